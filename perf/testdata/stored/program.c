// A small program whose executable is kept beside it, so that no change of a
// compiler changes what is recorded of it: loops over arrays, a gather, a scatter,
// a recursion, an indirect call, a division. Its arguments are a size and a number
// of repetitions. Built by
//
//	riscv64-linux-gnu-gcc -O2 -g -static -nostdlib -ffreestanding -fno-tree-loop-distribute-patterns -march=rv64gc -Wl,--build-id=none -ffile-prefix-map=$PWD=. -o program program.c
#define MOST 96

static double a[MOST][MOST], b[MOST][MOST], c[MOST][MOST], sums[MOST];
static int index_[MOST * MOST];

static long number(const char *s) {
	long v = 0;
	while (*s >= '0' && *s <= '9')
		v = 10 * v + (*s++ - '0');
	return v;
}

static void fill(long n) {
	unsigned seed = 1;
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			seed = seed * 1664525u + 1013904223u;
			a[i][j] = 1.0 / (double)(1 + i + j);
			b[i][j] = (double)(i - j);
			index_[i * n + j] = (int)(seed % (unsigned)(n * n));
		}
}

static void multiply(long n) {
	for (long i = 0; i < n; i++)
		for (long k = 0; k < n; k++)
			for (long j = 0; j < n; j++)
				c[i][j] += a[i][k] * b[k][j];
}

static void transpose(long n) {
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++)
			b[j][i] = c[i][j] * 0.5;
}

static void gather(long n) {
	double *flat = &a[0][0];
	for (long i = 0; i < n * n; i++)
		sums[i % n] += flat[index_[i]];
}

__attribute__((noinline)) static double halves(long from, long to) {
	if (to - from <= 4) {
		double s = 0;
		for (long i = from; i < to; i++)
			s += sums[i];
		return s;
	}
	long middle = (from + to) / 2;
	return halves(from, middle) + halves(middle, to);
}

static void (*const steps[])(long) = {multiply, transpose, gather};

__attribute__((noreturn, used)) static void start(long *stack) {
	char **argv = (char **)(stack + 1);
	long n = stack[0] > 1 ? number(argv[1]) : 8, times = stack[0] > 2 ? number(argv[2]) : 1;
	if (n > MOST)
		n = MOST;
	fill(n);
	for (long t = 0; t < times; t++)
		for (unsigned k = 0; k < 3; k++)
			steps[k](n);
	volatile double result = halves(0, n);
	register long status __asm__("a0") = result != result;
	register long call __asm__("a7") = 94;
	__asm__ volatile("ecall" ::"r"(status), "r"(call));
	__builtin_unreachable();
}

__attribute__((naked, noreturn)) void _start(void) {
	__asm__(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\nmv a0, sp\nj start");
}
