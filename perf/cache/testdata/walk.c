/* A small program without a library, so that all its accesses are aligned and
   the same under every tool: a matrix multiply, a strided sweep, and a random
   walk with stores. */
static volatile double a[24][24], b[24][24], c[24][24];
static unsigned table[1 << 15];

void _start(void) {
	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 24; j++)
			for (int k = 0; k < 24; k++)
				c[i][j] += a[i][k] * b[k][j];
	for (int i = 0; i < 1 << 15; i += 24)
		table[i] = i;
	unsigned x = 1;
	for (int i = 0; i < 20000; i++) {
		x = x * 1664525u + 1013904223u;
		table[x >> 17] += x;
	}
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
	__builtin_unreachable();
}
