// A copy with two callers, for programs of one size each, without a library.
#ifndef N
#define N 64
#endif

static double from[1 << 16] __attribute__((aligned(64))), to[1 << 16] __attribute__((aligned(64)));

static void __attribute__((noipa)) copy(double *a, const double *b, long n) {
	for (long i = 0; i < n; i++)
		a[i] = b[i];
}

static void __attribute__((noipa)) stream(void) {
	for (long i = 0; i < N; i++)
		copy(to + 32 * i, from + 32 * i, 32);
}

static void __attribute__((noipa)) window(void) {
	for (long i = 0; i < N; i++)
		copy(to, from, 32);
}

void _start(void) {
	stream();
	window();
	register long number __asm__("a7") = 93, status __asm__("a0") = 0;
	__asm__ volatile("ecall" ::"r"(number), "r"(status));
	__builtin_unreachable();
}
