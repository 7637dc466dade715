/* A product of a sparse matrix, with rows of one to twelve elements and most of these in
   the first columns, and a vector of which every sixteenth element is used: that is in a
   quarter of the sets of a cache with blocks of 32 bytes. */
#include <stdio.h>
#include <stdlib.h>

enum { STRIDE = 16 };

static unsigned state = 12345;

static unsigned draw(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

__attribute__((noinline)) static void product(int n, const int *row, const int *column, const double *x, double *y)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int k = row[i]; k < row[i + 1]; k++)
			sum += x[column[k] * STRIDE];
		y[i] = sum;
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 500;
	int *row = malloc((n + 1) * sizeof *row);
	row[0] = 0;
	for (int i = 0; i < n; i++)
		row[i + 1] = row[i] + 1 + draw() % 12;
	int *column = malloc(row[n] * sizeof *column);
	for (int k = 0; k < row[n]; k++) {
		double u = draw() / 16777216.0;
		column[k] = u * u * u * n;
	}
	double *x = calloc((size_t)n * STRIDE, sizeof *x), *y = calloc(n, sizeof *y);
	for (int i = 0; i < 4; i++)
		product(n, row, column, x, y);
	printf("%g\n", y[n / 2]);
	return 0;
}
