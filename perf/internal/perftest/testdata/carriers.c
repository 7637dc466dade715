/* Loops whose reuses are carried by known loops, at -O1: a matrix product, a
   stencil in a loop over time steps, and calls of a loop in a loop. */
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 5
#endif

double a[N][N], b[N][N], c[N][N];
double u[N][N], v[N][N];
double table[64 * N];

__attribute__((noinline)) void multiply(void) {
	for (long i = 0; i < N; i++)
		for (long j = 0; j < N; j++) {
			double s = c[i][j];
			for (long k = 0; k < N; k++)
				s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
}

__attribute__((noinline)) void relax(void) {
	for (long t = 0; t < STEPS; t++) {
		for (long i = 1; i < N - 1; i++)
			for (long j = 1; j < N - 1; j++)
				v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
		for (long i = 1; i < N - 1; i++)
			for (long j = 1; j < N - 1; j++)
				u[i][j] = v[i][j];
	}
}

__attribute__((noinline)) double sum(double *p) {
	double s = 0;
	for (long i = 0; i < 8 * N; i++)
		s += p[8 * i]++;
	return s;
}

__attribute__((noinline)) double calls(void) {
	double s = 0;
	for (long i = 0; i < STEPS; i++)
		s += sum(table);
	return s;
}

static void leave(long status) {
	register long a0 __asm__("a0") = status, a7 __asm__("a7") = 93;
	__asm__ volatile("ecall" : : "r"(a0), "r"(a7));
}

__attribute__((noreturn)) void _start(void) {
	multiply();
	relax();
	leave(calls() < 0);
	for (;;)
		;
}
