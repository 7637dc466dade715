/* Products of a sparse matrix, sums and a pointer chase. Arguments: rows, repetitions. */
#include <stdio.h>
#include <stdlib.h>

enum { PER_ROW = 12 };

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000, times = argc > 2 ? atoi(argv[2]) : 100;
  double *value = malloc(sizeof *value * n * PER_ROW), *x = malloc(sizeof *x * n), *y = malloc(sizeof *y * n);
  int *column = malloc(sizeof *column * n * PER_ROW), *next = malloc(sizeof *next * n);
  unsigned seed = 1;
  for (int i = 0; i < n * PER_ROW; i++) {
    seed = seed * 1664525u + 1013904223u;
    column[i] = (seed >> 8) % n;
    value[i] = 1.0 / (1 + i % 97);
  }
  for (int i = 0; i < n; i++) {
    x[i] = 1;
    next[i] = (i * 7 + 3) % n;
  }
  double sum = 0;
  int at = 0;
  for (int t = 0; t < times; t++) {
    for (int i = 0; i < n; i++) {
      double s = 0;
      for (int k = i * PER_ROW; k < (i + 1) * PER_ROW; k++)
        s += value[k] * x[column[k]];
      y[i] = s;
    }
    for (int i = 0; i < n; i++)
      x[i] = 0.5 * x[i] + y[i] / 16;
    for (int i = 0; i < n; i++) {
      at = next[at];
      sum += y[at];
    }
  }
  printf("%.4g %d\n", sum, at);
  return 0;
}
