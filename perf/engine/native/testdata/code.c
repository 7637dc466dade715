// A program that writes its own code, in all the ways that programs do.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int (*function)(int);

static void write_code(unsigned char *p, int n) { // lea eax, [rdi+n]; ret
	unsigned char code[] = {0x8d, 0x87, n, n >> 8, 0, 0, 0xc3};
	memcpy(p, code, sizeof code);
}

static int apply(int (*f)(int), int n) { return f(n); }

int main(int argc, char **argv) {
	int sum = 0;
	unsigned char *p = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 50; i++) { // written over and over
		write_code(p + 16 * (i % 7), i);
		sum += ((function)(p + 16 * (i % 7)))(i);
	}
	unsigned char *q = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 5; i++) { // writable or executable, in turn
		mprotect(q, 4096, PROT_READ | PROT_WRITE);
		write_code(q, 1000 + i);
		mprotect(q, 4096, PROT_READ | PROT_EXEC);
		sum += ((function)q)(i);
	}
	for (int i = 0; i < 5; i++) { // mapped anew at the same address
		munmap(q, 4096);
		q = mmap(q, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		write_code(q, 2000 + i);
		sum += ((function)q)(i);
	}
	int inner(int x) { return x + argc; } // a trampoline on the stack
	sum += apply(inner, 5);
	printf("%d\n", sum);
	return 0;
}
