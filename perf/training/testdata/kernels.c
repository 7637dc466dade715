// kernels.c is a few programs that take their size as an argument, one for each macro
// that it is compiled with: PRODUCT, a matrix product; SWEEPS, a mesh relaxed along
// both directions in turn; HEAT, a three-dimensional stencil; CHOLESKY, a
// factorisation; SORT, a merge sort; GATHER, a sparse matrix of random columns. With
// CONSTANT the size makes no difference, and with FRAGILE the product fails at
// sizes that are multiples of five, or above 60.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 16 // without an argument
#endif

#if defined CONSTANT
static double run(long n) {
  double sum = 0;
  double *a = calloc(4000, sizeof *a);
  for (int t = 0; t < 10; t++)
    for (int i = 0; i < 4000; i++)
      sum += a[i] += i;
  return sum + (double)(n & 0);
}
#elif defined SWEEPS
static double run(long n) {
  double *a = malloc(n * n * sizeof *a);
  for (long i = 0; i < n * n; i++)
    a[i] = i % 13;
  for (int t = 0; t < 4; t++) {
    for (long i = 0; i < n; i++)
      for (long j = 1; j < n - 1; j++)
        a[i * n + j] = (a[i * n + j - 1] + a[i * n + j] + a[i * n + j + 1]) / 3;
    for (long j = 0; j < n; j++)
      for (long i = 1; i < n - 1; i++)
        a[i * n + j] = (a[(i - 1) * n + j] + a[i * n + j] + a[(i + 1) * n + j]) / 3;
  }
  return a[n * n / 2];
}
#elif defined HEAT
static double run(long n) {
  float *a = malloc(n * n * n * sizeof *a), *b = malloc(n * n * n * sizeof *b);
  for (long i = 0; i < n * n * n; i++)
    a[i] = i % 11, b[i] = 0;
  for (int t = 0; t < 4; t++) {
    for (long k = 1; k < n - 1; k++)
      for (long j = 1; j < n - 1; j++)
        for (long i = 1; i < n - 1; i++) {
          long p = (k * n + j) * n + i;
          b[p] = a[p] + .1f * (a[p - 1] + a[p + 1] + a[p - n] + a[p + n] + a[p - n * n] + a[p + n * n] - 6 * a[p]);
        }
    float *was = a;
    a = b, b = was;
  }
  return a[n * n * n / 2];
}
#elif defined CHOLESKY
static double run(long n) {
  double *a = malloc(n * n * sizeof *a);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      a[i * n + j] = i == j ? n + 1 : 1.0 / (1 + i + j);
  for (long j = 0; j < n; j++) {
    for (long k = 0; k < j; k++)
      for (long i = j; i < n; i++)
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
    double d = sqrt(a[j * n + j]);
    for (long i = j; i < n; i++)
      a[i * n + j] /= d;
  }
  return a[n * n - 1];
}
#elif defined SORT
static void sort(unsigned *a, unsigned *b, long n) {
  if (n < 2)
    return;
  long half = n / 2, i = 0, j = half;
  sort(a, b, half);
  sort(a + half, b, n - half);
  for (long k = 0; k < n; k++)
    b[k] = j == n || (i < half && a[i] <= a[j]) ? a[i++] : a[j++];
  for (long k = 0; k < n; k++)
    a[k] = b[k];
}
static double run(long n) {
  n = n * n;
  unsigned *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), v = 12345;
  for (long i = 0; i < n; i++)
    a[i] = v = v * 1664525u + 1013904223u;
  sort(a, b, n);
  return a[0];
}
#elif defined GATHER
enum { WIDTH = 5 };
static double run(long n) {
  long rows = n * n;
  int *column = malloc(rows * WIDTH * sizeof *column);
  double *v = malloc(rows * WIDTH * sizeof *v), *x = malloc(rows * sizeof *x), *y = malloc(rows * sizeof *y);
  unsigned state = 7;
  for (long i = 0; i < rows; i++) {
    x[i] = 1;
    for (int k = 0; k < WIDTH; k++) {
      state = state * 1664525u + 1013904223u;
      column[i * WIDTH + k] = k < 3 ? (i + k * n) % rows : (state >> 4) % rows;
      v[i * WIDTH + k] = k;
    }
  }
  for (int t = 0; t < 3; t++) {
    for (long i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = 0; k < WIDTH; k++)
        sum += v[i * WIDTH + k] * x[column[i * WIDTH + k]];
      y[i] = sum;
    }
    double *was = x;
    x = y, y = was;
  }
  return x[rows / 2];
}
#else
static double run(long n) {
#if defined FRAGILE
  if (n % 5 == 0 || n > 60) {
    fprintf(stderr, "no mesh of %ld\n", n);
    exit(3);
  }
#endif
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), *c = malloc(n * n * sizeof *c);
  for (long i = 0; i < n * n; i++)
    a[i] = i % 7, b[i] = i % 5, c[i] = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double sum = 0;
      for (long k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  return c[n * n / 2];
}
#endif

int main(int argc, char **argv) {
  printf("%g\n", run(argc > 1 ? atol(argv[1]) : SIZE));
  return 0;
}
