// Sums over an index list: addresses that are not affine.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int n = atoi(argv[argc - 1]);
	int *index = malloc(4L * n);
	double *x = malloc(8L * n), s = 0;
	unsigned r = 1;
	for (int i = 0; i < n; i++) {
		r = r * 1664525 + 1013904223;
		index[i] = (r >> 4) % n;
		x[i] = i;
	}
	for (int t = 0; t < 10; t++)
		for (int i = 0; i < n; i++)
			s += x[index[i]];
	printf("%g\n", s);
}
