/* The matrix multiply of Figure 1 of Marin and Mellor-Crummey (2005): matrices
   as one-dimensional arrays, the k-loop unrolled by hand. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void mm(double *A, double *B, double *C, int N) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double s = 0;
			for (int k = 0; k + 1 < N; k += 2) {
				s += A[i * N + k] * B[k * N + j];
				s += A[i * N + k + 1] * B[(k + 1) * N + j];
			}
			C[i * N + j] = s;
		}
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 20;
	double *a = malloc(8 * n * n), *b = malloc(8 * n * n), *c = malloc(8 * n * n);
	for (int i = 0; i < n * n; i++)
		a[i] = i, b[i] = 1.0 / (i + 1);
	mm(a, b, c, n);
	printf("%g\n", c[n * n - 1]);
	return 0;
}
