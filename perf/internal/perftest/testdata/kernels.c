/* The program of benchmarks: -DKERNEL=1 a matrix product, 2 a stencil of seven
   points over time steps, 3 a multigrid's residual of 27 points on three grids, 4 a
   sparse matrix times a vector. Each makes a few million accesses. */
#if KERNEL == 1
#define N 112
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
#define N 50
double u[2][N][N][N];
static void run(void) {
	for (long t = 0; t < 4; t++)
		for (long i = 1; i < N - 1; i++)
			for (long j = 1; j < N - 1; j++)
				for (long k = 1; k < N - 1; k++)
					u[1 - (t & 1)][i][j][k] = u[t & 1][i][j][k] + u[t & 1][i - 1][j][k] + u[t & 1][i + 1][j][k] + u[t & 1][i][j - 1][k] + u[t & 1][i][j + 1][k] + u[t & 1][i][j][k - 1] + u[t & 1][i][j][k + 1];
}
#elif KERNEL == 3
#define N 40
double u[N * N * N], v[N * N * N], r[N * N * N];
__attribute__((noinline)) static void residual(long n) {
	for (long i = 1; i < n - 1; i++)
		for (long j = 1; j < n - 1; j++)
			for (long k = 1; k < n - 1; k++) {
				double s = 0;
#pragma GCC unroll 9
				for (long p = 0; p < 9; p++) {
					double *x = &u[((i + p / 3 - 1) * n + j + p % 3 - 1) * n + k];
					s += x[-1] + x[0] + x[1];
				}
				r[(i * n + j) * n + k] = v[(i * n + j) * n + k] - s;
			}
}
static void run(void) {
	for (long t = 0; t < 2; t++)
		for (long n = N; n >= 10; n /= 2)
			residual(n);
}
#else
#define ROWS 20000
#define EACH 16
int column[ROWS * EACH], start[ROWS + 1];
double value[ROWS * EACH], x[ROWS], y[ROWS];
static void run(void) {
	unsigned long seed = 1;
	long at = 0;
	for (long i = 0; i < ROWS; i++) {
		start[i] = at;
		for (long j = 0; j < EACH - (i & 7); j++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			column[at++] = (seed >> 33) % ROWS;
		}
	}
	start[ROWS] = at;
	for (long t = 0; t < 4; t++)
		for (long i = 0; i < ROWS; i++) {
			double s = 0;
			for (long j = start[i]; j < start[i + 1]; j++)
				s += value[j] * x[column[j]];
			y[i] = s;
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
