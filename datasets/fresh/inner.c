/* Inner products of two vectors of n elements, one of which changes a little after each
   product. The size is the argument; the vectors are static, as long as they may be. */
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 1 << 20, REPEATS = 40 };

static double x[LIMIT], z[LIMIT];

static double inner(const double *a, const double *b, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0;
	long long exact = 0;
	double q = 0;

	if (n < 1 || n > LIMIT) {
		printf("usage: inner N, up to %d\n", LIMIT);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		x[i] = (i * 5LL) % 23 - 9;
		z[i] = (i * 3LL) % 17 - 6;
	}
	/* All are whole numbers below 2^53, so that sums are exact. */
	for (int i = 0; i < n; i++)
		exact += (long long)x[i] * (long long)z[i];
	for (int t = 0; t < REPEATS; t++) {
		int at = (int)((long long)n * t / REPEATS);
		q = inner(x, z, n);
		wrong += q != (double)exact;
		x[at] += t % 5 + 1;
		exact += (t % 5 + 1) * (long long)z[at];
	}
	printf("inner: n %d, last product %.0f, wrong %d\n", n, q, wrong);
	return wrong ? 1 : 0;
}
