/* Gauss-Seidel sweeps over a square, several at once in skewed tiles of time and
   rows. The size is the argument; the mesh is on the heap. */
#include <stdio.h>
#include <stdlib.h>

enum { SWEEPS = 8, ROWS = 16 };

static void row(double *u, int n, int i)
{
	double *m = u + (size_t)i * n;

	for (int j = 1; j < n - 1; j++)
		m[j] = 0.2 * (m[j] + m[j - 1] + m[j + 1] + m[j - n] + m[j + n]);
}

static void plain(double *u, int n)
{
	for (int t = 0; t < SWEEPS; t++)
		for (int i = 1; i < n - 1; i++)
			row(u, n, i);
}

/* tiled does what plain does: row i of sweep t is at place i + t, and tiles of
   places follow one another. Row i of a sweep needs row i-1 of the same and row
   i+1 of the one before, at the same place or one earlier, and both come first. */
static void tiled(double *u, int n)
{
	for (int at = 1; at < n - 1 + SWEEPS; at += ROWS)
		for (int t = 0; t < SWEEPS; t++)
			for (int p = at; p < at + ROWS; p++)
				if (p - t >= 1 && p - t < n - 1)
					row(u, n, p - t);
}

static double *mesh(int n)
{
	double *u = malloc((size_t)n * n * sizeof *u);

	if (!u) {
		puts("seideltile: out of memory");
		exit(2);
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			u[(size_t)i * n + j] = (i * 31 + j * 17) % 64 / 64.0;
	return u;
}

int main(int argc, char **argv)
{
	enum { SMALL = 40 };
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0;

	if (n < 3) {
		puts("usage: seideltile N, at least 3");
		return 2;
	}
	/* Both orders on a small mesh, and the maximum principle on the large one. */
	double *a = mesh(SMALL), *b = mesh(SMALL), *u = mesh(n);
	plain(a, SMALL);
	tiled(b, SMALL);
	for (int i = 0; i < SMALL * SMALL; i++)
		wrong += a[i] != b[i];
	tiled(u, n);
	for (size_t i = 0; i < (size_t)n * n; i += 5)
		wrong += !(u[i] >= 0 && u[i] < 1);
	printf("seideltile: n %d, wrong %d\n", n, wrong);
	free(a);
	free(b);
	free(u);
	return wrong != 0;
}
