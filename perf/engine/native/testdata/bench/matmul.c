// Matrix product.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int n = atoi(argv[argc - 1]);
	double *a = malloc(8L * n * n), *b = malloc(8L * n * n), *c = calloc(n * n, 8), s = 0;
	for (int i = 0; i < n * n; i++)
		a[i] = i % 7, b[i] = i % 5;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
	for (int i = 0; i < n * n; i++)
		s += c[i];
	printf("%g\n", s);
}
