// Seven-point stencil on a cube, ten sweeps.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int n = atoi(argv[argc - 1]);
	long plane = (long)n * n;
	double *a = malloc(8 * plane * n), *b = calloc(plane * n, 8);
	for (long i = 0; i < plane * n; i++)
		a[i] = i % 11;
	for (int sweep = 0; sweep < 10; sweep++) {
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				for (int k = 1; k < n - 1; k++) {
					long at = i * plane + (long)j * n + k;
					b[at] = (a[at] * 2 + a[at - 1] + a[at + 1] + a[at - n] + a[at + n] + a[at - plane] + a[at + plane]) / 8;
				}
		double *t = a;
		a = b, b = t;
	}
	printf("%g\n", a[plane * (n / 2) + plane / 2]);
}
