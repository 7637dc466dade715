// Quicksort of n pseudo-random integers, with insertion sort of short ranges.
#include <stdio.h>
#include <stdlib.h>

static void sort(int *a, long lo, long hi) {
	while (hi - lo > 16) {
		int pivot = a[lo + (hi - lo) / 2];
		long i = lo, j = hi - 1;
		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				int t = a[i];
				a[i++] = a[j];
				a[j--] = t;
			}
		}
		sort(a, lo, j + 1);
		lo = i;
	}
	for (long i = lo + 1; i < hi; i++) {
		int v = a[i];
		long j = i;
		for (; j > lo && a[j - 1] > v; j--)
			a[j] = a[j - 1];
		a[j] = v;
	}
}

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 1000;
	int *a = malloc(n * sizeof *a);
	unsigned seed = 1;
	for (long i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		a[i] = seed >> 1;
	}
	sort(a, 0, n);
	printf("%ld %d\n", n, a[n / 2]);
	return 0;
}
