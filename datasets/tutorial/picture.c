/*
 * picture: smooths a picture of n x n points, twice, and sums its columns.
 *
 * The columns are summed against the order in which the picture is stored, which is
 * slow. Compiled with -DROWS_FIRST they are summed along it, with the same result.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* smooth writes the mean of each point and its four neighbours. The border stays. */
static void smooth(double *to, const double *from, long n)
{
	for (long i = 1; i < n - 1; i++)
		for (long j = 1; j < n - 1; j++)
			to[i * n + j] = (from[i * n + j] + from[(i - 1) * n + j] + from[(i + 1) * n + j]
				+ from[i * n + j - 1] + from[i * n + j + 1]) / 5;
}

/* sum_columns adds up each column. */
static void sum_columns(double *sum, const double *picture, long n)
{
#ifdef ROWS_FIRST
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			sum[j] += picture[i * n + j];
#else
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++)
			sum[j] += picture[i * n + j];
#endif
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	if (n < 3 || n > 20000) {
		fprintf(stderr, "usage: picture N (3 to 20000 points a side)\n");
		return 2;
	}
	double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
	double *sum = calloc(n, sizeof *sum);
	if (!a || !b || !sum) {
		fprintf(stderr, "picture: no memory\n");
		return 1;
	}
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			a[i * n + j] = b[i * n + j] = (double)(i + j) / n;

	smooth(b, a, n);
	smooth(a, b, n);
	sum_columns(sum, a, n);

	/* Smoothing leaves a plane as it is: column j sums to (0+j)/n + ... + (n-1+j)/n. */
	for (long j = 0; j < n; j++) {
		double want = (n - 1) / 2.0 + j;
		if (fabs(sum[j] - want) > 1e-9 * n) {
			printf("column %ld sums to %g, not %g\n", j, sum[j], want);
			return 1;
		}
	}
	printf("n %ld: all columns are right\n", n);
	return 0;
}
