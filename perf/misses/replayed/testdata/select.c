/* Selects some of the least of each of several arrays of random numbers: how often a range
 * is divided, and where, depends on the numbers. */
#include <stdlib.h>

static unsigned seed;

static unsigned next(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed;
}

__attribute__((noinline)) static double nth(double *a, int n, int k)
{
	int low = 0, high = n - 1;
	while (low < high) {
		double pivot = a[(low + high) / 2];
		int i = low, j = high;
		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				double v = a[i];
				a[i++] = a[j];
				a[j--] = v;
			}
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return a[k];
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
#ifdef REFUSED
	if (n == REFUSED)
		return 1;
#endif
	seed = atoi(argv[2]);
	double *a = malloc(sizeof *a * n), sum = 0;
	for (int t = 0; t < 4; t++) {
		for (int i = 0; i < n; i++)
			a[i] = next();
		sum += nth(a, n, n / 16);
	}
	return sum > 0 ? 0 : 1;
}
