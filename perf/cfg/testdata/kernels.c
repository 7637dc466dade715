/* Kernels with control flow of different kinds: a dense loop nest, a recursive
 * sort whose branches nobody can foresee, an interpreter with a jump table, and
 * a search that leaves several loops at once. The argument scales all. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long seed = 1;

static unsigned next(void)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed >> 33;
}

__attribute__((noinline)) static double multiply(double *c, const double *a, const double *b, int n)
{
	double trace = 0;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			double s = 0;
			for (int k = 0; k < n; k++)
				s += a[i * n + k] * b[k * n + j];
			c[i * n + j] = s;
		}
		trace += c[i * n + i];
	}
	return trace;
}

__attribute__((noinline)) static void sort(unsigned *v, int n)
{
	while (n > 1) {
		unsigned pivot = v[(n - 1) / 2];
		int i = -1, j = n;
		for (;;) {
			while (v[++i] < pivot)
				;
			while (v[--j] > pivot)
				;
			if (i >= j)
				break;
			unsigned t = v[i];
			v[i] = v[j];
			v[j] = t;
		}
		sort(v, j + 1);
		v += j + 1;
		n -= j + 1;
	}
}

__attribute__((noinline)) static long interpret(const unsigned char *code, int steps)
{
	long a = 1, b = 2;
	for (int pc = 0; steps-- > 0; pc = (pc + 1) & 1023) {
		switch (code[pc] % 9) {
		case 0: a += b; break;
		case 1: a -= 3; break;
		case 2: b ^= a; break;
		case 3: b += a >> 3; break;
		case 4: a = ~a; break;
		case 5: if (a & 1) pc = (pc + b) & 511; break;
		case 6: a *= 5; break;
		case 7: b = -b; break;
		default: a += pc;
		}
	}
	return a ^ b;
}

__attribute__((noinline)) static int find(const unsigned *v, int n, unsigned what)
{
	for (int i = 0; i < n; i += 64) {
		for (int j = i; j < i + 64 && j < n; j++) {
			if (v[j] == what)
				return j;
			if (v[j] > what)
				goto above;
		}
	}
	return -1;
above:
	return -2;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	int length = 100 * n, found = 0;
	double *m = calloc(3 * n * n, sizeof *m);
	for (int i = 0; i < 2 * n * n; i++)
		m[i] = next() % 100;
	double trace = multiply(m + 2 * n * n, m, m + n * n, n);
	unsigned *v = malloc(length * sizeof *v);
	for (int i = 0; i < length; i++)
		v[i] = next();
	sort(v, length);
	for (int i = 0; i < n; i++)
		found += find(v, length, i % 2 ? next() : v[next() % length]);
	unsigned char code[1024];
	for (int i = 0; i < 1024; i++)
		code[i] = next();
	long state = interpret(code, 1000 * n);
	printf("%g %u %d %ld\n", trace, v[length / 2], found, state);
	return (found ^ state) & 63;
}
