/* Banded linear equations: a matrix of n rows, the argument, with five diagonals on each
   side of the main one is factored in place, without pivoting since the main one dominates,
   and solved for several right-hand sides. Rows of the band and vectors are static. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 131072, SIDE = 5, BAND = 2 * SIDE + 1, SYSTEMS = 6 };

static double factors[MOST][BAND]; /* element (i, j) is at [i][j - i + SIDE] */
static double b[SYSTEMS][MOST], x[MOST];

/* element returns that of the matrix which is solved for, within the band. */
static double element(int i, int j)
{
	if (i == j)
		return 24 + i % 3;
	return (double)((i * 7 + j * 3) % 9 - 4) / (1 + abs(i - j) % 2);
}

static int low(int i)
{
	return i < SIDE ? 0 : i - SIDE;
}

static int high(int i, int n)
{
	return i + SIDE < n ? i + SIDE : n - 1;
}

/* solution is what the right-hand sides are made for: whole numbers. */
static double solution(int s, int i)
{
	return (i * (s + 2) + i / 50) % 17 - 8;
}

static void fill(int n)
{
	for (int i = 0; i < n; i++) {
		for (int j = low(i); j <= high(i, n); j++) {
			factors[i][j - i + SIDE] = element(i, j);
			for (int s = 0; s < SYSTEMS; s++)
				b[s][i] += element(i, j) * solution(s, j);
		}
	}
}

/* factor leaves the multipliers of the lower triangle below the upper triangle. */
static void factor(int n)
{
	for (int k = 0; k < n; k++) {
		int last = high(k, n);
		double pivot = 1 / factors[k][SIDE];
		for (int i = k + 1; i <= last; i++) {
			double *row = factors[i] + SIDE - i;
			double m = row[k] *= pivot;
			for (int j = k + 1; j <= last; j++)
				row[j] -= m * factors[k][j - k + SIDE];
		}
	}
}

static void solve(int n, const double *restrict right)
{
	for (int i = 0; i < n; i++) {
		const double *row = factors[i] + SIDE - i;
		double sum = right[i];
		for (int j = low(i); j < i; j++)
			sum -= row[j] * x[j];
		x[i] = sum;
	}
	for (int i = n - 1; i >= 0; i--) {
		const double *row = factors[i] + SIDE - i;
		double sum = x[i];
		for (int j = i + 1; j <= high(i, n); j++)
			sum -= row[j] * x[j];
		x[i] = sum / row[i];
	}
}

/* worse returns the larger, and what is not a number if one is. */
static double worse(double a, double b)
{
	return a >= b || a != a ? a : b;
}

/* residual returns by how much the solved x misses the equations. */
static double residual(int n, const double *right)
{
	double most = 0;

	for (int i = 0; i < n; i++) {
		double sum = -right[i];
		for (int j = low(i); j <= high(i, n); j++)
			sum += element(i, j) * x[j];
		most = worse(most, fabs(sum));
	}
	return most;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double worst = 0, left = 0, logarithm = 0;

	if (n < 1 || n > MOST) {
		printf("usage: banded N, to %d\n", MOST);
		return 2;
	}
	fill(n);
	factor(n);
	for (int s = 0; s < SYSTEMS; s++) {
		solve(n, b[s]);
		for (int i = 0; i < n; i++)
			worst = worse(worst, fabs(x[i] - solution(s, i)));
		if (s == 1)
			left = residual(n, b[s]);
	}
	for (int i = 0; i < n; i++)
		logarithm += log2(factors[i][SIDE]);
	printf("banded: n %d, logarithm of the determinant %.6f, error %.1e, residual %.1e\n", n,
	       logarithm, worst, left);
	return worst < 1e-12 && left < 1e-10 && isfinite(logarithm) ? 0 : 1;
}
