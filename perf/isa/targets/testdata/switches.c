/* Transfers of control that analyses have to resolve: tables of jumps of all
   kinds, tail calls, calls that do not return. */
#include <stdio.h>
#include <stdlib.h>

volatile int sink;
#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int on_int(int x, int y) {
	switch (x) {
	case 0: return y + 3;
	case 1: return y * 7;
	case 2: sink = y; return 11;
	case 3: return y / 3;
	case 4: return y ^ 0x55;
	case 5: sink += y; return y - 1;
	case 6: return y << 2;
	case 7: return -y;
	}
	return 99;
}

NOINLINE int on_char(const char *p) {
	int n = 0;
	for (; *p; p++)
		switch (*p) {
		case 'a': n += 1; break;
		case 'b': n *= 3; break;
		case 'c': n -= 7; break;
		case 'd': n ^= sink; break;
		case 'e': sink = n; break;
		case 'f': n = -n; break;
		case 'g': n += sink; break;
		case '%': n = n % 17; break;
		default: n++;
		}
	return n;
}

NOINLINE long on_long(unsigned long x) {
	switch (x) {
	case 1000: sink = 1; break;
	case 1001: sink += 5; break;
	case 1002: sink *= 3; break;
	case 1003: sink -= 4; break;
	case 1004: sink ^= 9; break;
	case 1005: return sink;
	case 1006: sink = -sink; break;
	default: return -1;
	}
	return sink * 2;
}

NOINLINE int negative(int x) {
	switch (x) {
	case -4: return sink + 1;
	case -3: sink = 4; return 2;
	case -2: sink = 3; return 9;
	case -1: sink = 2; return 4;
	case 0: sink = 1; return 6;
	case 1: sink = 0; return 5;
	case 2: sink = 9; return 3;
	}
	return 0;
}

NOINLINE int masked(unsigned x) {
	switch (x & 7) {
	case 0: sink++; return 1;
	case 1: sink--; return 8;
	case 2: sink = 5; return 27;
	case 3: sink = 7; return 64;
	case 4: sink *= 2; return 125;
	case 5: sink /= 2; return 216;
	case 6: sink ^= 2; return 343;
	case 7: sink |= 2; return 512;
	}
	return 0;
}

NOINLINE int threaded(const unsigned char *code) {
	static const void *const labels[] = {&&add, &&twice, &&minus, &&done};
	int n = 1;
	goto *labels[*code++];
add:
	n += 3;
	goto *labels[*code++];
twice:
	n *= 2;
	goto *labels[*code++];
minus:
	n -= sink;
	goto *labels[*code++];
done:
	return n;
}

NOINLINE int helper(int x) { sink = x; return x + 1; }
NOINLINE int tail(int x) { return helper(x * 3); }
NOINLINE void fatal(int x) { printf("%d\n", x); exit(x); }
NOINLINE int checked(int x) {
	if (x > 1000) fatal(x);
	if (x < -1000) abort();
	return x * 2;
}

__attribute__((cold, noinline)) int rare(int x) { sink = x; return x / 2; }
NOINLINE int mostly(const int *p, int n) {
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (__builtin_expect(p[i] < 0, 0))
			s += rare(p[i]) * 3;
		s += p[i];
	}
	return s;
}

int main(int argc, char **argv) {
	int s = 0;
	for (int i = -6; i < 12; i++) s += on_int(i, s) + negative(i) + masked(i) + tail(i) + checked(i);
	s += on_char("abcdefg%xyz%gfedcba");
	for (unsigned long i = 998; i < 1009; i++) s += on_long(i);
	s += threaded((const unsigned char *)"\0\1\2\1\0\3");
	int list[] = {3, 4, -5, 6, 7, -8, 9};
	s += mostly(list, 7);
	printf("%d\n", s);
	return 0;
}
