// Forces between n bodies, each with each other, five steps.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 100;
	double *p = malloc(3 * n * sizeof *p), *v = calloc(3 * n, sizeof *v);
	unsigned seed = 1;
	for (long i = 0; i < 3 * n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = seed / 4294967296.0;
	}
	for (int step = 0; step < 5; step++) {
		for (long i = 0; i < n; i++) {
			double f[3] = {0, 0, 0};
			for (long j = 0; j < n; j++) {
				double x = p[3 * j] - p[3 * i], y = p[3 * j + 1] - p[3 * i + 1], z = p[3 * j + 2] - p[3 * i + 2];
				double r = x * x + y * y + z * z + 1e-3, w = 1 / (r * sqrt(r));
				f[0] += x * w;
				f[1] += y * w;
				f[2] += z * w;
			}
			for (int k = 0; k < 3; k++)
				v[3 * i + k] += 1e-6 * f[k];
		}
		for (long i = 0; i < 3 * n; i++)
			p[i] += 1e-3 * v[i];
	}
	printf("%ld %g\n", n, p[n]);
	return 0;
}
