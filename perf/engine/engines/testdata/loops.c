// Programs whose loops engines may record as runs, and one that has few: NAME SIZE.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *zeros(long n) { return calloc(n, sizeof(double)); }

static double product(int n) {
	double *a = zeros(n * n), *b = zeros(n * n), *c = zeros(n * n);
	for (int i = 0; i < n * n; i++)
		a[i] = i % 7, b[i] = i % 5;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;
			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
	return c[n + 1];
}

static double stencil(int n) {
	int p = n * n;
	double *a = zeros((long)p * n), *b = zeros((long)p * n);
	for (int t = 0; t < 4; t++)
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				for (int k = 1; k < n - 1; k++) {
					int at = i * p + j * n + k;
					b[at] = a[at] + a[at - 1] + a[at + 1] + a[at - n] + a[at + n] + a[at - p] + a[at + p];
				}
	return b[p + n + 1];
}

// multigrid relaxes and restricts twice on grids of half the size each.
static double multigrid(int n) {
	double sum = 0;
	for (int cycle = 0; cycle < 2; cycle++)
		for (int m = n; m >= 8; m /= 2) {
			int p = m * m, h = m / 2;
			double *u = zeros((long)p * m), *r = zeros((long)p * m), *coarse = zeros((long)h * h * h);
			for (int i = 1; i < m - 1; i++)
				for (int j = 1; j < m - 1; j++)
					for (int k = 1; k < m - 1; k++) {
						double *x = u + i * p + j * m + k;
						r[i * p + j * m + k] = 6 * x[0] - x[-1] - x[1] - x[-m] - x[m] - x[-p] - x[p];
					}
			for (int i = 0; i < h; i++)
				for (int j = 0; j < h; j++)
					for (int k = 0; k < h; k++)
						coarse[(i * h + j) * h + k] = r[2 * i * p + 2 * j * m + 2 * k];
			sum += coarse[h];
			free(u), free(r), free(coarse);
		}
	return sum;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static double sorted(int n) {
	int *list = malloc(n * sizeof *list);
	unsigned x = 1;
	for (int i = 0; i < n; i++)
		list[i] = (x = x * 1103515245 + 12345) >> 8;
	qsort(list, n, sizeof *list, compare);
	return list[n / 2];
}

int main(int argc, char **argv) {
	int n = atoi(argv[2]);
	double (*run)(int) = !strcmp(argv[1], "product") ? product : !strcmp(argv[1], "stencil") ? stencil : !strcmp(argv[1], "multigrid") ? multigrid : sorted;
	printf("%g\n", run(n));
	return 0;
}
