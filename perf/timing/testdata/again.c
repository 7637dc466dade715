// again.c goes two hundred times through n directions that are drawn at random once: branches
// that depend on data, whose outcomes come again.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100;
  unsigned char *direction = malloc(n);
  unsigned seed = 1, left = 0, right = 0;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    direction[i] = seed >> 31;
  }
  for (int round = 0; round < 200; round++)
    for (int i = 0; i < n; i++)
      if (direction[i])
        left += i ^ round;
      else
        right = (right << 1 | right >> 31) + i;
  printf("%u %u\n", left, right);
  return 0;
}
