/* Kernels of n x n doubles, element (i, j) of the increments at i + j n, of the
   stencil at i n + j. */
#ifndef IPERF_H
#define IPERF_H

void kernel_ij(double *a, long n);
void kernel_ji(double *a, long n);
void kernel_copy(double *restrict b, const double *restrict a, long n);
void kernel_stencil(double *restrict b, const double *restrict a, long n);

#endif
