// Work for the engine's tests: loops, calls through pointers, recursion, strings,
// a switch, and as many instructions as the tests can bear.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double *a, const double *b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}

static int less(const void *a, const void *b) {
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static int turn(int k, int v) {
	switch (k % 7) {
	case 0: return v + 3;
	case 1: return v * 5;
	case 2: return v ^ 77;
	case 3: return v - k;
	case 4: return v << 1;
	case 5: return v >> 1;
	default: return -v;
	}
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 100;
	if (n <= 0)
		return 3;
	double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
	int *k = malloc(n * sizeof *k);
	unsigned x = 1, h = 0;
	for (int i = 0; i < n; i++) {
		a[i] = i % 7;
		b[i] = i % 5;
		x = x * 1664525 + 1013904223;
		k[i] = x >> 8;
	}
	qsort(k, n, sizeof *k, less);
	for (int i = 0; i < n; i++)
		h = turn(i, h * 31 + k[i]);
	char text[300];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	printf("%g %u %d %zu\n", dot(a, b, n), h, fib(12), strlen(text));
	return 0;
}
