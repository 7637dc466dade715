/* A position-independent executable without a C library: it prints a table that
 * it addresses relative to the program counter, and the distance between two of
 * its addresses. */
static const char digits[] = "0123456789abcdef";
static long counts[16];

static long call(long n, long a, long b, long c)
{
	register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a7 __asm__("a7") = n;
	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
	return a0;
}

void _start(void)
{
	char line[18];
	long distance = (char *)counts - (char *)_start;
	for (int i = 0; i < 16; i++) {
		counts[i] += distance >> (4 * (15 - i)) & 15;
		line[i] = digits[counts[i]];
	}
	line[16] = '\n';
	call(64, 1, (long)line, 17);
	call(94, 9, 0, 0);
}
