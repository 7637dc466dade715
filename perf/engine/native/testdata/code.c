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
	for (int i = 0; i < 2000; i++) // which shares its page with what changes
		sum += apply(inner, i);
	// mov byte [rip+1], 7; mov eax, 1; ret: the second instruction is the first one's doing
	unsigned char self[] = {0xc6, 5, 1, 0, 0, 0, 7, 0xb8, 1, 0, 0, 0, 0xc3};
	memcpy(p + 4096, self, sizeof self);
	for (int i = 0; i < 20; i++) {
		sum += ((function)(p + 4096))(0);
		p[4096 + 6] = i;
	}
	// inc dword [rip-13]; jmp 1f; nop...; 1: mov eax, edi; ret: it counts in its own page
	unsigned char count[] = {0, 0, 0, 0, 0, 0, 0, 0xff, 5, 0xf3, 0xff, 0xff, 0xff, 0xeb, 1, 0x90, 0x89, 0xf8, 0xc3};
	memcpy(p + 4200, count, sizeof count);
	for (int i = 0; i < 2000; i++) {
		sum += ((function)(p + 4207))(i);
		if (i % 100 == 0) // now and then with another result
			p[4200 + 17] = i % 200 ? 0xf8 : 0xf0;
	}
	sum += p[4200];
	printf("%d\n", sum);
	return 0;
}
