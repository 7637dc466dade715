// Ten sweeps of Jacobi's method over a square mesh of n points a side.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 100;
	double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
	for (long i = 0; i < n * n; i++)
		a[i] = b[i] = i % 11;
	for (int sweep = 0; sweep < 10; sweep++) {
		for (long i = 1; i < n - 1; i++)
			for (long j = 1; j < n - 1; j++)
				b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
		double *t = a;
		a = b;
		b = t;
	}
	printf("%ld %g\n", n, a[n * n / 2 + n / 2]);
	return 0;
}
