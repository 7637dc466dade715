/* Arrays that are walked side by side, and a step of a wave in a mesh that nothing was in a
   cache of before: where misses of several arrays come together, and one after the other. */
#include <stdlib.h>

__attribute__((noinline)) static double products(const double *a, const double *b, const double *c, const double *d, int m)
{
	double s = 0;
	for (int i = 0; i < m; i++)
		s += a[i] * b[i] + c[i] * d[i];
	return s;
}

__attribute__((noinline)) static void wave(const double *u, const double *v, double *w, int n)
{
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			w[i * n + j] = 2 * v[i * n + j] - u[i * n + j] +
				0.1 * (v[i * n + j - 1] + v[i * n + j + 1] + v[(i - 1) * n + j] + v[(i + 1) * n + j] - 4 * v[i * n + j]);
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	double s = 0, *a[6];
	for (int k = 0; k < 6; k++)
		a[k] = malloc(n * n * sizeof(double));
	for (int t = 0; t < 3; t++) {
		wave(a[t], a[(t + 1) % 3], a[(t + 2) % 3], n);
		s += products(a[2], a[3], a[4], a[5], n * n);
	}
	return s > 1e9;
}
