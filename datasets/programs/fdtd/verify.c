#include "fdtd.h"

#include <math.h>
#include <stdio.h>

/* energy returns what the scheme conserves: E·E weighted by permittivity, plus
 * the product of H before and after, all times the cell. With no loss, the
 * permittivity is dt / gain. */
double energy(const box *b)
{
	double sum = 0;

	for (int a = 0; a < 3; a++)
		for (size_t i = 0; i < b->plane * b->row; i++)
			sum += b->e[a][i] * b->e[a][i] * (b->dt / b->gain[i]) + b->before[a][i] * b->h[a][i];
	return sum;
}

/* diverge finds the largest divergence of H in a cell, and the largest H. */
void diverge(box *b)
{
	int n = b->n;

	for (int z = 0; z < n - 1; z++)
		for (int y = 0; y < n - 1; y++)
			for (int x = 0; x < n - 1; x++) {
				size_t i = z * b->plane + y * b->row + x;
				double d = b->h[0][i + 1] - b->h[0][i] + b->h[1][i + b->row] - b->h[1][i] + b->h[2][i + b->plane] - b->h[2][i];
				b->divergence = fmax(b->divergence, fabs(d));
				for (int a = 0; a < 3; a++)
					b->largest = fmax(b->largest, fabs(b->h[a][i]));
			}
}

/* verify prints the verdict. Roundings grow with the number of steps at most. */
bool verify(const box *b, enum medium m)
{
	double rounding = 1e-14 * (b->steps + 10);
	const char *bad = NULL;

	if (!(b->energy > 0) || !isfinite(b->later))
		bad = "there is no wave, or it grew without end";
	else if (!(b->divergence <= rounding * b->largest))
		bad = "the magnetic field diverges";
	else if (m != LOSSY && !(fabs(b->later - b->energy) <= rounding * b->energy * b->n))
		bad = "energy is not conserved";
	else if (m == LOSSY && !(b->later <= b->energy * (1 + rounding)))
		bad = "energy grew";
	if (bad) {
		printf("verification: FAILED: %s: energy %.17g, later %.17g, divergence %.3g of %.3g\n", bad, b->energy, b->later,
		       b->divergence, b->largest);
		return false;
	}
	printf("verification: successful\n");
	return true;
}
