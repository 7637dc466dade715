// The length of the longest common subsequence of two strings of length n.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 100;
	char *a = malloc(n), *b = malloc(n);
	int *row = calloc(n + 1, sizeof *row);
	unsigned seed = 1;
	for (long i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		a[i] = seed >> 30;
		b[i] = seed >> 28 & 3;
	}
	for (long i = 0; i < n; i++) {
		int diagonal = 0;
		for (long j = 0; j < n; j++) {
			int up = row[j + 1], best = up > row[j] ? up : row[j];
			if (a[i] == b[j])
				best = diagonal + 1;
			diagonal = up;
			row[j + 1] = best;
		}
	}
	printf("%ld %d\n", n, row[n]);
	return 0;
}
