// Leaves operator new by longjmp, and allocates from deeper in the stack.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

static jmp_buf out;
static volatile size_t toomuch = size_t(1) << 61;
static void *volatile last;

static void say(int line, void *p, size_t n) {
	char text[80];
	int length = snprintf(text, sizeof text, "%d %p %zu\n", line, p, n);
	if (write(1, text, length) != length) abort();
}

static void full() { longjmp(out, 1); }

__attribute__((noinline)) static void deeper(int n) {
	volatile char room[200];
	memset((void *)room, n, sizeof room);
	if (n > 0)
		deeper(n - 1);
	else {
		last = malloc(40); say(__LINE__, last, 40);
	}
	room[1] = 0;
}

int main() {
	std::set_new_handler(full);
	for (int i = 0; i < 3; i++)
		if (setjmp(out))
			deeper(3);
		else
			last = new char[toomuch];
	return 0;
}
