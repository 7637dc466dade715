/* Forces between n particles in a periodic square that reach no farther than a cell of
   a grid: particles are linked in lists of cells. The number of particles is the
   argument; arrays are on the heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PER_CELL = 4, STEPS = 3 };

static int n, edge; /* particles; cells along an edge, whose length is 1 */
static double *x, *y, *fx, *fy;
static int *next, *first;

static void *array(size_t count, size_t size)
{
	void *a = malloc(count * size);

	if (!a) {
		puts("nbody: out of memory");
		exit(2);
	}
	return a;
}

static void link(void)
{
	for (int c = 0; c < edge * edge; c++)
		first[c] = -1;
	for (int i = 0; i < n; i++) {
		int c = (int)y[i] * edge + (int)x[i];
		next[i] = first[c];
		first[c] = i;
	}
}

/* nearest returns d moved by a multiple of the edge to where |d| is least. */
static double nearest(double d)
{
	if (d > 0.5 * edge)
		return d - edge;
	if (d < -0.5 * edge)
		return d + edge;
	return d;
}

static void add(int i, int j)
{
	double dx = nearest(x[i] - x[j]), dy = nearest(y[i] - y[j]);
	double r2 = dx * dx + dy * dy;

	if (r2 < 1) {
		fx[i] += (1 - r2) * dx;
		fy[i] += (1 - r2) * dy;
	}
}

static void forces(void)
{
	for (int i = 0; i < n; i++) {
		int cx = (int)x[i], cy = (int)y[i];
		fx[i] = fy[i] = 0;
		for (int a = -1; a <= 1; a++)
			for (int b = -1; b <= 1; b++) {
				int c = (cy + a + edge) % edge * edge + (cx + b + edge) % edge;
				for (int j = first[c]; j >= 0; j = next[j])
					if (j != i)
						add(i, j);
			}
	}
}

static double inside(double at)
{
	while (at >= edge)
		at -= edge;
	while (at < 0)
		at += edge;
	return at < edge ? at : 0;
}

int main(int argc, char **argv)
{
	double sumX = 0, sumY = 0, worst = 0;
	unsigned long s = 42;

	n = argc == 2 ? atoi(argv[1]) : 0;
	edge = (int)sqrt((double)n / PER_CELL);
	if (edge < 3) {
		puts("usage: nbody N, at least 36");
		return 2;
	}
	x = array(n, sizeof *x), y = array(n, sizeof *y);
	fx = array(n, sizeof *fx), fy = array(n, sizeof *fy);
	next = array(n, sizeof *next), first = array((size_t)edge * edge, sizeof *first);
	for (int i = 0; i < n; i++) {
		s = s * 6364136223846793005u + 1442695040888963407u;
		x[i] = (s >> 33) / 2147483648.0 * edge;
		s = s * 6364136223846793005u + 1442695040888963407u;
		y[i] = (s >> 33) / 2147483648.0 * edge;
	}
	for (int t = 0; t < STEPS; t++) {
		link();
		forces();
		for (int i = 0; i < n; i++) {
			sumX += fx[i];
			sumY += fy[i];
		}
		if (t == STEPS - 1)
			break;
		for (int i = 0; i < n; i++) {
			x[i] = inside(x[i] + 0.05 * fx[i]);
			y[i] = inside(y[i] + 0.05 * fy[i]);
		}
	}
	/* Forces are in pairs; those on two particles, from all others. */
	for (int i = 0; i < n; i += n - 1) {
		double gotX = fx[i], gotY = fy[i];
		fx[i] = fy[i] = 0;
		for (int j = 0; j < n; j++)
			if (j != i)
				add(i, j);
		worst = fmax(worst, fmax(fabs(fx[i] - gotX), fabs(fy[i] - gotY)));
	}
	printf("nbody: n %d, sum of forces %.1e, error %.1e\n", n, hypot(sumX, sumY), worst);
	return hypot(sumX, sumY) < 1e-11 * n && worst < 1e-12 ? 0 : 1;
}
