// A small native program whose executable is kept beside it: it allocates from two
// places, walks what it got, and has one thread. Its argument is a size. Built by
//
//	gcc -O2 -g -static -nostdlib -ffreestanding -fno-tree-loop-distribute-patterns -fno-stack-protector -fcf-protection=none -march=x86-64 -Wl,--build-id=none -Wl,-z,noseparate-code -ffile-prefix-map=$PWD=. -o native native.c
static char pool[1 << 20];
static unsigned long used;

__attribute__((noinline)) void *malloc(unsigned long bytes) {
	void *p = pool + used;
	used += (bytes + 63) & ~63ul;
	return p;
}

static double *rows[64];

__attribute__((noinline)) static double walk(long n) {
	double *line = malloc(n * sizeof *line), sum = 0;
	for (long i = 0; i < n; i++)
		rows[i] = malloc(n * sizeof **rows);
	for (long t = 0; t < 3; t++)
		for (long j = 0; j < n; j++)
			for (long i = 0; i < n; i++) {
				rows[i][j] += line[j] + 1;
				sum += rows[i][j];
			}
	return sum;
}

__attribute__((noreturn, used)) static void start(long *stack) {
	long n = 0;
	for (const char *s = ((char **)(stack + 1))[1]; *s; s++)
		n = 10 * n + *s - '0';
	long status = walk(n > 64 ? 64 : n) < 0;
	__asm__ volatile("syscall" : : "a"(231l), "D"(status));
	__builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");
