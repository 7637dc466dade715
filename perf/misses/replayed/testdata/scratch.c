/* Smooths a mesh, each time with memory of its own that is given back, and with columns that
   go by way of a buffer. Above 128 KiB the library maps memory, until some is given back. */
#include <stdlib.h>

__attribute__((noinline)) static double *smooth(double *u, int n)
{
	double *t = malloc(sizeof *t * n * n);
	for (int i = 0; i < n * n; i++)
		t[i] = u[i];
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			t[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]);
	free(u);
	return t;
}

__attribute__((noinline)) static void columns(double *u, int n)
{
	double *c = malloc(sizeof *c * n);
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < n; i++)
			c[i] = u[i * n + j];
		for (int i = 1; i < n; i++)
			u[i * n + j] = 0.5 * (c[i] + c[i - 1]);
	}
	free(c);
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	double *u = malloc(sizeof *u * n * n);
	for (int i = 0; i < n * n; i++)
		u[i] = i % 17;
	for (int t = 0; t < 6; t++) {
		u = smooth(u, n);
		columns(u, n);
	}
	free(u);
	return 0;
}
