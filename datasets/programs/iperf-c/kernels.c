#include "iperf.h"

/* kernel_ij goes through the array row by row: Figure 3 of Hsu and Kremer. */
void kernel_ij(double *a, long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			a[i + j * n] = a[i + j * n] + 1.0;
}

/* kernel_ji is kernel_ij with its loops interchanged. */
void kernel_ji(double *a, long n)
{
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++)
			a[i + j * n] = a[i + j * n] + 1.0;
}

/* kernel_copy copies n elements of a to b. The empty statement keeps compilers
   from calling memcpy. */
void kernel_copy(double *restrict b, const double *restrict a, long n)
{
	for (long i = 0; i < n; i++) {
		b[i] = a[i];
		__asm__ volatile("");
	}
}

/* kernel_stencil adds up each element inside of a and its four neighbours. */
void kernel_stencil(double *restrict b, const double *restrict a, long n)
{
	for (long i = 1; i < n - 1; i++)
		for (long j = 1; j < n - 1; j++)
			b[i * n + j] = a[i * n + j] + a[(i - 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j];
}
