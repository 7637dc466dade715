/* First sums: each element of x is the one before and an element of y, for n elements, the
   argument. Several arrays are summed in turn, from where the last ended, and then the sums
   of the sums; all are on the heap. Elements are whole numbers, so that all is exact. */
#include <stdio.h>
#include <stdlib.h>

enum { ARRAYS = 3, REPEATS = 16, PERIOD = 19 };

static double *array(size_t count)
{
	double *a = malloc(count * sizeof *a);

	if (!a) {
		puts("firstsum: out of memory");
		exit(2);
	}
	return a;
}

/* element is what y holds: it adds up to one in each period. */
static double element(int a, long k)
{
	return (double)((k * 7 + a) % PERIOD) - 9 + (k % PERIOD == 4);
}

/* first_sums returns the last of x. */
static double first_sums(int n, double from, const double *y, double *x)
{
	x[0] = from + y[0];
	for (int k = 1; k < n; k++)
		x[k] = x[k - 1] + y[k];
	return x[n - 1];
}

/* in_place turns sums into sums of sums. */
static void in_place(int n, double *x)
{
	for (int k = 1; k < n; k++)
		x[k] += x[k - 1];
}

/* closed returns the sum of elements 0 to k by periods. */
static double closed(int a, long k)
{
	double sum = (double)((k + 1) / PERIOD);

	for (long i = (k + 1) / PERIOD * PERIOD; i <= k; i++)
		sum += element(a, i);
	return sum;
}

/* wrong counts elements of sums that are not what they should be, one in eleven. */
static int wrong(int a, int n, double from, const double *x)
{
	int count = 0;

	for (int k = n - 1; k >= 0; k -= 11)
		count += x[k] != from + closed(a, k);
	return count;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, bad = 0;
	double *y[ARRAYS], *x, from = 0, twice = 0;

	if (n < 1 || n > 20000000) {
		puts("usage: firstsum N");
		return 2;
	}
	x = array(n);
	for (int a = 0; a < ARRAYS; a++) {
		y[a] = array(n);
		for (int k = 0; k < n; k++)
			y[a][k] = element(a, k);
	}
	for (int t = 0; t < REPEATS; t++)
		for (int a = 0; a < ARRAYS; a++) {
			double before = from;
			from = first_sums(n, from, y[a], x);
			if (t == REPEATS - 1)
				bad += wrong(a, n, before, x);
			bad += from != before + closed(a, n - 1);
		}
	/* A sum of sums: each y once for each element that comes after, and where they
	   began. */
	from -= closed(ARRAYS - 1, n - 1);
	for (int k = 0; k < n; k++)
		twice += from + y[ARRAYS - 1][k] * (n - k);
	in_place(n, x);
	bad += x[n - 1] != twice;
	printf("firstsum: n %d, sum of sums %.0f, wrong %d\n", n, twice, bad);
	return bad ? 1 : 0;
}
