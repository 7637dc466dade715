// Products of a sparse matrix of n rows, eight elements a row at random places, and a
// vector.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 1000, per = 8;
	int *column = malloc(n * per * sizeof *column);
	double *value = malloc(n * per * sizeof *value), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
	unsigned seed = 1;
	for (long i = 0; i < n * per; i++) {
		seed = seed * 1664525u + 1013904223u;
		column[i] = (unsigned long)seed * n >> 32;
		value[i] = 0.1;
	}
	for (long i = 0; i < n; i++)
		x[i] = 1;
	for (int times = 0; times < 10; times++) {
		for (long i = 0; i < n; i++) {
			double sum = 0;
			for (long k = i * per; k < (i + 1) * per; k++)
				sum += value[k] * x[column[k]];
			y[i] = sum;
		}
		double *t = x;
		x = y;
		y = t;
	}
	printf("%ld %g\n", n, x[n / 2]);
	return 0;
}
