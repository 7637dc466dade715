/* matmul: c = a·b for matrices of n rows and columns, by the textbook's loops. */
#include <stdio.h>
#include <stdlib.h>

static void multiply(long n, const double *a, const double *b, double *c)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++) {
			double sum = 0;
			for (long k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), *c = malloc(n * n * sizeof *c);
	for (long i = 0; i < n * n; i++) {
		a[i] = i % 7;
		b[i] = i % 5;
	}
	multiply(n, a, b, c);
	double trace = 0;
	for (long i = 0; i < n; i++)
		trace += c[i * n + i];
	printf("n %ld, trace %g\n", n, trace);
	return 0;
}
