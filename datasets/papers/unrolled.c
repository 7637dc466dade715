/*
 * unrolled: a naive matrix multiply whose innermost loop is unrolled by hand, once:
 * the example of Marin and Mellor-Crummey (LACSI 2005, Figures 1 and 2), written anew.
 *
 * Matrices are rows in one dimension, and begin at a cache line of 64 bytes.
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void multiply(double *c, const double *a, const double *b, long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			double sum = c[i * n + j];
			long k;
			for (k = 0; k + 1 < n; k += 2) {
				sum += a[i * n + k] * b[k * n + j];
				sum += a[i * n + k + 1] * b[(k + 1) * n + j];
			}
			for (; k < n; k++) /* the remaining element of an odd n */
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	if (n < 1 || n > 4000) {
		fprintf(stderr, "usage: unrolled N (1 to 4000 rows)\n");
		return 2;
	}
	size_t bytes = (n * n * sizeof(double) + 63) / 64 * 64;
	double *a = aligned_alloc(64, bytes), *b = aligned_alloc(64, bytes), *c = aligned_alloc(64, bytes);
	if (!a || !b || !c) {
		fprintf(stderr, "unrolled: no memory\n");
		return 1;
	}
	for (long i = 0; i < n * n; i++)
		a[i] = i % 7, b[i] = i % n == i / n, c[i] = 0; /* b is the unit matrix */
	multiply(c, a, b, n);
	for (long i = 0; i < n * n; i++)
		if (c[i] != a[i]) {
			printf("element %ld is %g, not %g\n", i, c[i], a[i]);
			return 1;
		}
	printf("n %ld: the product with the unit matrix is right\n", n);
	return 0;
}
