/* Histograms of the digits of n keys, and the radix sort that they make. The size is
   read from the file that the argument names; arrays are on the heap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS = 3, BITS = 8, VALUES = 1 << BITS };

static size_t counts[DIGITS][VALUES];

static unsigned digit(uint32_t key, int d) { return key >> (d * BITS) & (VALUES - 1); }

static void count(const uint32_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			counts[d][digit(keys[i], d)]++;
}

/* place moves the keys to where a digit puts them, in their order otherwise. */
static void place(const uint32_t *from, uint32_t *to, size_t n, int d)
{
	size_t first[VALUES], at = 0;

	for (int v = 0; v < VALUES; v++) {
		first[v] = at;
		at += counts[d][v];
	}
	for (size_t i = 0; i < n; i++)
		to[first[digit(from[i], d)]++] = from[i];
}

static long readSize(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = 0;

	if (!f || fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	long size = argc == 2 ? readSize(argv[1]) : 0;

	if (size < 1) {
		puts("usage: radixsort FILE, which holds the number of keys");
		return 2;
	}
	size_t n = size;
	uint32_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
	if (!a || !b) {
		puts("radixsort: out of memory");
		return 2;
	}
	uint64_t x = 88172645463325252u, before = 0, after = 0;
	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		a[i] = x >> 16 & 0xffffff;
		before += a[i] * (uint64_t)(a[i] + 1);
	}
	count(a, n);
	for (int d = 0; d < DIGITS; d++) {
		place(a, b, n, d);
		uint32_t *t = a;
		a = b;
		b = t;
	}
	size_t wrong = 0;
	for (size_t i = 0; i < n; i++) {
		after += a[i] * (uint64_t)(a[i] + 1);
		wrong += i > 0 && a[i - 1] > a[i];
	}
	printf("radixsort: n %zu, out of order %zu, checksum %s\n", n, wrong, before == after ? "kept" : "changed");
	free(a);
	free(b);
	return wrong != 0 || before != after;
}
