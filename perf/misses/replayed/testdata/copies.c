/* Sweeps over a plane, by vector instructions that leave a rest of each row, and a copy of
   all of it after each, by an instruction that repeats itself. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void sweep(int n, const double *restrict a, double *restrict b)
{
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}

__attribute__((noinline)) static void copy(double *to, const double *from, size_t n)
{
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * n);
	for (int i = 0; i < n * n; i++)
		b[i] = 0;
	for (int i = 0; i < n * n; i++)
		a[i] = i % 17;
	for (int t = 0; t < 8; t++) {
		sweep(n, a, b);
		copy(a, b, (size_t)n * n);
	}
	printf("%g\n", a[n / 2 * n + n / 3]);
	return 0;
}
