// relax N FILE, without a C library, so that every access is of this text: it sweeps
// over a mesh of N*N once, once more if the processor has AVX2, and once more if it can
// open FILE. A sweep makes 5(N-2)² accesses, the start N².
#include <cpuid.h>

long a[1 << 16], b[1 << 16];

static long call(long number, long first, long second) {
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(0) : "rcx", "r11", "memory");
	return result;
}

static int wide(void) {
	unsigned eax, ebx, ecx, edx;
	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx & bit_AVX2;
}

__attribute__((noinline)) void relax(long n) {
	for (long i = 1; i + 1 < n; i++)
		for (long j = 1; j + 1 < n; j++)
			b[i * n + j] = a[(i - 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j];
}

__attribute__((noreturn)) void start(long *stack) {
	long n = 0, times = 1;
	for (const char *digit = (const char *)stack[2]; *digit; digit++)
		n = 10 * n + *digit - '0';
	times += wide();
	times += call(2, stack[3], 0) >= 0; // open
	for (long i = 0; i < n * n; i++)
		a[i] = i;
	for (long t = 0; t < times; t++)
		relax(n);
	for (;;)
		call(231, 0, 0); // exit_group
}

__attribute__((naked)) void _start(void) { __asm__("mov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start"); }
