// Matrices that lie on the heap at small sizes and are mapped at larger ones, and a vector
// that at three sizes lies where a buffer was. None of b and line is accessed in the first
// half of the run.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void begin(double *a, int n) {
	for (int times = 0; times < 12; times++)
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				a[i * n + j] += 0.25 * (a[i * n + j - 1] + a[i * n + j + 1]);
}

__attribute__((noinline)) static void kernel(const double *a, double *b, double *line, int n) {
	for (int j = 0; j < n; j++) {
		line[0] = a[j];
		for (int i = 1; i < n; i++)
			line[i] = a[i * n + j] + 0.5 * line[i - 1];
		for (int i = n - 1; i >= 0; i--)
			b[i * n + j] = line[i];
	}
}

__attribute__((noinline)) static void fill(double *v, int n) {
	for (int i = 0; i < n; i++)
		v[i] = i;
}

int main(int argc, char **argv) {
	int n = atoi(argv[1]);
	static const int bytes[3] = {600, 832, 1200};
	char *buffer[3];
	for (int k = 0; k < 3; k++)
		buffer[k] = malloc(bytes[k]);
	for (int k = 0; k < 3; k++) {
		fill((double *)buffer[k], bytes[k] / 8);
		free(buffer[k]);
	}
	double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * n), *line = malloc(sizeof(double) * n);
	for (int i = 0; i < n * n; i++)
		a[i] = i % 7;
	begin(a, n);
	kernel(a, b, line, n);
	printf("%g\n", b[n * n / 2]);
}
