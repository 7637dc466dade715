/* Kernels whose time is known, without a C library. KERNEL chooses one, and
 * BLOCKS the number of 64-byte blocks that it works on. */

typedef unsigned long word;

static word memory[BLOCKS * 8] __attribute__((aligned(64)));

static word state = 88172645463325252ul;

static word draw(void) {
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* chase follows a cycle through all blocks, in random order. */
static word chase(void) {
	static unsigned order[BLOCKS];
	for (unsigned i = 0; i < BLOCKS; i++)
		order[i] = i;
	for (unsigned i = BLOCKS - 1; i > 0; i--) {
		unsigned j = draw() % (i + 1), t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		memory[8 * order[i]] = (word)&memory[8 * order[(i + 1) % BLOCKS]];
	word *p = memory;
	for (unsigned n = 0; n < 8 * BLOCKS + 4096; n++)
		p = (word *)*p;
	return (word)p;
}

/* sum reads the blocks in order. */
static word sum(void) {
	word s = 0;
	for (word *p = memory; p < memory + BLOCKS * 8; p += 8)
		s += *p;
	return s;
}

/* horner is a chain of fused multiply-adds. */
static word horner(void) {
	double x = 1.5, s = 0;
	for (unsigned n = 0; n < 20000; n++)
		__asm__ volatile("fmadd.d %0, %0, %1, %1" : "+f"(s) : "f"(x));
	return s > 1;
}

/* flip branches on random bits. */
static word flip(void) {
	word s = 0;
	for (unsigned n = 0; n < 20000; n++)
		if (draw() >> 63)
			__asm__ volatile("addi %0, %0, 3" : "+r"(s));
	return s;
}

static volatile word sink; /* so that compilers keep what is computed */

void _start(void) {
	sink = KERNEL();
	register word a0 __asm__("a0") = 0, a7 __asm__("a7") = 93;
	__asm__ volatile("ecall" : : "r"(a0), "r"(a7));
	__builtin_unreachable();
}
