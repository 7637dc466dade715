// Routines of its own that call each other: what each accesses depends on nothing but n.
#include <stdio.h>
#include <stdlib.h>

enum { most = 4096 };
static volatile long a[most], b[most];
static long n;

static void __attribute__((noipa)) copy(volatile long *to, volatile long *from, long count) {
	for (long i = 0; i < count; i++)
		to[i] = from[i];
}

static void __attribute__((noipa)) fill(long value) {
	for (long i = 0; i < n; i++)
		a[i] = value;
}

static void __attribute__((noipa)) left(void) {
	fill(1);
	for (long i = 0; i + 8 <= n; i += 8)
		copy(b + i, a + i, 8);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noipa)) right(void) {
	for (long t = 0; t < 5; t++)
		copy(a, b, n);
	__asm__ volatile("" ::: "memory");
}

static long __attribute__((noipa)) fib(long k) {
	if (k < 2)
		return a[k];
	return fib(k - 1) + fib(k - 2);
}

static void __attribute__((noipa)) both(void) {
	left();
	right();
	right();
	__asm__ volatile("" ::: "memory");
}

// A jump to copy.
static void __attribute__((noipa)) last(void) { copy(a, b, n / 2); }

int main(int argc, char **argv) {
	void (*volatile pointer)(void) = right;
	n = atol(argv[1]);
	both();
	pointer();
	last();
	printf("%ld %ld\n", fib(12), a[1]);
	return 0;
}
