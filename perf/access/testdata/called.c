/* Indices that come from calls: of straight lines, and of others. */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noipa))

static long table[64];

APART static long element(long i, long j, long n) { return i + j * n; }
APART static long looked_up(long i) { return table[i & 63]; }
APART static long either(long i) { if (i & 1) return i * 3; return i; }

APART void by_element(double *a, long n) {
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			a[element(i, j, n)] += 1;
}

APART void by_table(double *a, long n) {
	for (long i = 0; i < n; i++)
		a[looked_up(i)] += 1;
}

APART void by_branch(double *a, long n) {
	for (long i = 0; i < n; i++)
		a[either(i)] += 1;
}

int main(void) {
	long n = 24;
	double *a = calloc(3 * n * n, sizeof *a);
	for (long i = 0; i < 64; i++)
		table[i] = (i * 37) & 63;
	by_element(a, n);
	by_table(a, n);
	by_branch(a, n);
	printf("%g\n", a[0]);
	return 0;
}
