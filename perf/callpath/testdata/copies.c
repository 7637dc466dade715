// A library's memcpy with callers of different locality: stream copies what is in no
// cache, window what is in the first, and rounds what the second has place for at small
// sizes only.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { record = 256 };
static char *from, *to;
static long n;

static void __attribute__((noinline)) stream(void) {
	for (long i = 0; i < n; i++)
		memcpy(to + record * i, from + record * i, record);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) window(void) {
	for (long i = 0; i < 2 * n; i++)
		memcpy(to + record * (i % 2), from + record * (i % 2), record);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) rounds(void) {
	for (long t = 0; t < 4; t++)
		for (long i = 0; i < n / 4; i++)
			memcpy(to + record * i, from + record * i, record);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv) {
	n = atol(argv[1]);
	from = aligned_alloc(4096, record * n), to = aligned_alloc(4096, record * n);
	stream();
	window();
	rounds();
	printf("%d\n", to[n]);
	return 0;
}
