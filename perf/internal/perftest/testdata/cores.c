/* The programs of BenchmarkParallel: -DKERNEL=1 a matrix product, 2 a stencil of seven
   points over time steps, 3 a sort, 4 a chase through a list in random order. Each
   makes tens of millions of accesses, of which many come back after thousands of
   blocks. */
static unsigned long seed = 1;
static unsigned long rnd(void) {
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed >> 33;
}
#if KERNEL == 1
#define N 280
double a[N][N], b[N][N], c[N][N];
static void run(void) {
	for (long i = 0; i < N; i++)
		for (long j = 0; j < N; j++) {
			double s = 0;
			for (long k = 0; k < N; k++)
				s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
}
#elif KERNEL == 2
#define N 100
double u[2][N][N][N];
static void run(void) {
	for (long t = 0; t < 6; t++)
		for (long i = 1; i < N - 1; i++)
			for (long j = 1; j < N - 1; j++)
				for (long k = 1; k < N - 1; k++)
					u[1 - (t & 1)][i][j][k] = u[t & 1][i][j][k] + u[t & 1][i - 1][j][k] + u[t & 1][i + 1][j][k] + u[t & 1][i][j - 1][k] + u[t & 1][i][j + 1][k] + u[t & 1][i][j][k - 1] + u[t & 1][i][j][k + 1];
}
#elif KERNEL == 3
#define N (1 << 19)
unsigned long a[N];
__attribute__((noinline)) static void sort(long lo, long hi) {
	while (lo < hi) {
		unsigned long pivot = a[(lo + hi) / 2];
		long i = lo, j = hi;
		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				unsigned long x = a[i];
				a[i++] = a[j];
				a[j--] = x;
			}
		}
		sort(lo, j);
		lo = i;
	}
}
static void run(void) {
	for (long i = 0; i < N; i++)
		a[i] = rnd();
	sort(0, N - 1);
}
#else
#define N (1 << 17)
struct node {
	struct node *next;
	long value[7];
} nodes[N];
static unsigned order[N];
long sum;
static void run(void) {
	for (long i = 0; i < N; i++)
		order[i] = i;
	for (long i = N - 1; i > 0; i--) {
		long j = rnd() % (i + 1);
		unsigned x = order[i];
		order[i] = order[j];
		order[j] = x;
	}
	for (long i = 0; i < N; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % N]];
	struct node *at = nodes;
	for (long i = 0; i < 60 * N; i++) {
		sum += at->value[i & 3];
		at = at->next;
	}
}
#endif

__attribute__((noreturn)) void _start(void) {
	run();
	register long a0 __asm__("a0") = 0, a7 __asm__("a7") = 93;
	__asm__ volatile("ecall" : : "r"(a0), "r"(a7));
	for (;;)
		;
}
