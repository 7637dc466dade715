/* A list that doubles its memory as it grows, beside a product: how often it asks for memory
   depends on the size. */
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static double *collect(int n)
{
	long room = 512, used = 0;
	double *list = malloc(sizeof *list * room);
	for (long i = 0; i < (long)n * n; i++) {
		if (used == room) {
			double *more = malloc(sizeof *more * 2 * room);
			memcpy(more, list, sizeof *list * room);
			free(list);
			list = more;
			room *= 2;
		}
		list[used++] = i % 13;
	}
	return list;
}

__attribute__((noinline)) static void multiply(double *c, double *a, double *b, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double s = 0;
			for (int k = 0; k < n; k++)
				s += a[i * n + k] * b[k * n + j];
			c[i * n + j] = s;
		}
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	double *a = collect(n), *b = collect(n);
	double *c = malloc(sizeof *c * n * n);
	multiply(c, a, b, n);
	return 0;
}
