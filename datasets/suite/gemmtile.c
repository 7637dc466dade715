/* Product of two dense matrices in tiles. The size is the argument; matrices are
   on the heap, by malloc. */
#include <stdio.h>
#include <stdlib.h>

enum { TILE = 24 };

static int min(int a, int b) { return a < b ? a : b; }

/* multiply adds a b to c. */
static void multiply(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
	for (int ii = 0; ii < n; ii += TILE)
		for (int kk = 0; kk < n; kk += TILE)
			for (int jj = 0; jj < n; jj += TILE)
				for (int i = ii; i < min(ii + TILE, n); i++)
					for (int k = kk; k < min(kk + TILE, n); k++) {
						double f = a[(size_t)i * n + k];
						for (int j = jj; j < min(jj + TILE, n); j++)
							c[(size_t)i * n + j] += f * b[(size_t)k * n + j];
					}
}

/* times sets y = a x. */
static void times(int n, const double *a, const double *x, double *y)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int j = 0; j < n; j++)
			sum += a[(size_t)i * n + j] * x[j];
		y[i] = sum;
	}
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0;

	if (n < 1) {
		puts("usage: gemmtile N");
		return 2;
	}
	size_t all = (size_t)n * n * sizeof(double);
	double *a = malloc(all), *b = malloc(all), *c = malloc(all);
	double *v = malloc(4 * (size_t)n * sizeof *v);
	if (!a || !b || !c || !v) {
		puts("gemmtile: out of memory");
		return 2;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			a[(size_t)i * n + j] = (i * 3 + j * 5) % 17 - 8;
			b[(size_t)i * n + j] = (i * 7 + j * 2) % 13 - 6;
			c[(size_t)i * n + j] = 0;
		}
	multiply(n, a, b, c);
	double *x = v, *y = v + n, *z = v + 2 * n, *w = v + 3 * n;
	for (int i = 0; i < n; i++)
		x[i] = i % 7 - 3;
	times(n, b, x, y);
	times(n, a, y, z);
	times(n, c, x, w);
	for (int i = 0; i < n; i++)
		wrong += w[i] != z[i]; /* whole numbers, so exact */
	printf("gemmtile: n %d, wrong rows %d\n", n, wrong);
	free(a);
	free(b);
	free(c);
	free(v);
	return wrong != 0;
}
