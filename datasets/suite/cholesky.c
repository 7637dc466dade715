/* Cholesky factorisation in place of a dense symmetric positive definite matrix,
   row by row. The size N is fixed at compile time; the matrix is static. */
#include <math.h>
#include <stdio.h>

#ifndef N
#define N 100
#endif

static double a[N][N];
static double x[N], y[N], b[N];

/* entry returns the matrix to factorise: 1/(1+|i-j|), and N on the diagonal. */
static double entry(int i, int j)
{
	int d = i > j ? i - j : j - i;

	return i == j ? N : 1.0 / (1 + d);
}

static void factorise(void)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < i; j++) {
			double sum = a[i][j];
			for (int k = 0; k < j; k++)
				sum -= a[i][k] * a[j][k];
			a[i][j] = sum / a[j][j];
		}
		double sum = a[i][i];
		for (int k = 0; k < i; k++)
			sum -= a[i][k] * a[i][k];
		a[i][i] = sqrt(sum);
	}
}

/* solve solves L L' x = b. */
static void solve(void)
{
	for (int i = 0; i < N; i++) {
		double sum = b[i];
		for (int k = 0; k < i; k++)
			sum -= a[i][k] * y[k];
		y[i] = sum / a[i][i];
	}
	for (int i = N - 1; i >= 0; i--) {
		double sum = y[i];
		for (int k = i + 1; k < N; k++)
			sum -= a[k][i] * x[k];
		x[i] = sum / a[i][i];
	}
}

int main(void)
{
	double worst = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = entry(i, j);
	for (int i = 0; i < N; i++) {
		b[i] = 0;
		for (int j = 0; j < N; j++)
			b[i] += a[i][j] * (1 + j % 3);
	}
	factorise();
	solve();
	for (int i = 0; i < N; i++)
		worst = fmax(worst, fabs(x[i] - (1 + i % 3)));
	printf("cholesky: n %d, error %.1e\n", N, worst);
	return worst < 1e-9 ? 0 : 1;
}
