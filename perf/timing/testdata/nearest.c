// nearest.c finds the nearest of a few centres for n points along a curve, five times:
// branches that depend on data, which go mostly as they did for the point before.
#include <stdio.h>
#include <stdlib.h>

enum { CENTRES = 7 };

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100, moved = 0;
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), cx[CENTRES], cy[CENTRES];
  int *of = calloc(n, sizeof *of);
  for (int i = 0; i < n; i++) {
    x[i] = (double)i / n;
    y[i] = x[i] * (1 - x[i]);
  }
  for (int k = 0; k < CENTRES; k++) {
    cx[k] = (k * 3 % CENTRES + 0.5) / CENTRES;
    cy[k] = 0.1;
  }
  for (int round = 0; round < 5; round++)
    for (int i = 0; i < n; i++) {
      double best = 1e30;
      int at = 0;
      for (int k = 0; k < CENTRES; k++) {
        double u = x[i] - cx[k], v = y[i] - cy[k], d = u * u + v * v;
        if (d < best) {
          best = d;
          at = k;
        }
      }
      moved += of[i] != at;
      of[i] = at;
    }
  printf("%d\n", moved);
  return 0;
}
