/* Tridiagonal systems along the rows of a square: a recurrence with a division down,
   and one without it up. */
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double *d = malloc((size_t)n * n * sizeof *d), *b = malloc((size_t)n * n * sizeof *b), sum = 0;

	for (int i = 0; i < n * n; i++)
		d[i] = 4 + i % 3, b[i] = i % 7;
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < n; i++) {
			double *di = d + (size_t)i * n, *bi = b + (size_t)i * n;
			for (int j = 1; j < n; j++) {
				double w = 1 / di[j - 1];
				di[j] = 4 - w;
				bi[j] -= w * bi[j - 1];
			}
			for (int j = n - 2; j >= 0; j--)
				bi[j] = (bi[j] - bi[j + 1]) * 0.25;
			sum += bi[0];
		}
	return !(sum < 1e12);
}
