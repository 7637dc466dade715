#include "fdtd.h"

#include <stdlib.h>
#include <string.h>

static void fill(box *b, enum medium m);
static void magnetic(box *b);
static void electric(box *b);

bool make(box *b, int n, int steps, enum medium m)
{
	size_t points;

	memset(b, 0, sizeof *b);
	b->n = n;
	b->steps = steps;
	b->pulse = steps < 24 ? steps / 2 : 12;
	b->row = (size_t)n + 1;
	b->plane = b->row * b->row;
	b->dt = 0.5; /* stable below 1/sqrt(3) */
	points = b->plane * b->row;
	for (int a = 0; a < 3; a++) {
		b->e[a] = calloc(points, sizeof(double));
		b->h[a] = calloc(points, sizeof(double));
		b->before[a] = calloc(points, sizeof(double));
		if (!b->e[a] || !b->h[a] || !b->before[a])
			return false;
	}
	b->gain = calloc(points, sizeof(double));
	b->keep = calloc(points, sizeof(double));
	if (!b->gain || !b->keep)
		return false;
	fill(b, m);
	return true;
}

/* fill sets the media, point by point. */
static void fill(box *b, enum medium m)
{
	int n = b->n;

	for (int z = 0; z <= n; z++)
		for (int y = 0; y <= n; y++)
			for (int x = 0; x <= n; x++) {
				size_t i = z * b->plane + y * b->row + x;
				double permittivity = 1, loss = 0;
				if (m == LAYERS && z / 3 % 2 == 1)
					permittivity = 4;
				if (m == LOSSY && x > n / 4 && x < n / 2)
					loss = 0.1;
				loss *= b->dt / (2 * permittivity);
				b->keep[i] = (1 - loss) / (1 + loss);
				b->gain[i] = b->dt / permittivity / (1 + loss);
			}
}

/* source adds to E along z, in the middle. */
static void source(box *b, int step)
{
	int c = b->n / 2;
	double t = (double)(step + 1) / (b->pulse + 1);

	b->e[2][c * b->plane + c * b->row + c] += t * (1 - t) * (1 - 2 * t);
}

/* run makes all steps. */
void run(box *b)
{
	size_t bytes = b->plane * b->row * sizeof(double);

	for (int step = 0; step < b->steps; step++) {
		bool judged = step == b->pulse || step == b->steps - 1;
		if (judged)
			for (int a = 0; a < 3; a++)
				memcpy(b->before[a], b->h[a], bytes);
		magnetic(b);
		if (judged)
			*(step == b->pulse ? &b->energy : &b->later) = energy(b);
		if (step == b->steps - 1)
			break; /* E stays that of the energy */
		electric(b);
		if (step < b->pulse)
			source(b, step);
	}
	diverge(b);
}

/* magnetic steps H, which lies in the middle of the faces of cells. */
__attribute__((noinline)) static void magnetic(box *b)
{
	size_t row = b->row, plane = b->plane;
	const double *ex = b->e[0], *ey = b->e[1], *ez = b->e[2];
	double *hx = b->h[0], *hy = b->h[1], *hz = b->h[2], dt = b->dt;
	int n = b->n;

	for (int z = 0; z < n; z++)
		for (int y = 0; y < n; y++) {
			size_t i = z * plane + y * row;
			for (int x = 0; x < n; x++, i++) {
				hx[i] -= dt * (ez[i + row] - ez[i] - ey[i + plane] + ey[i]);
				hy[i] -= dt * (ex[i + plane] - ex[i] - ez[i + 1] + ez[i]);
				hz[i] -= dt * (ey[i + 1] - ey[i] - ex[i + row] + ex[i]);
			}
		}
}

/* electric steps E, which lies in the middle of the edges of cells; edges in the
 * walls stay 0. */
__attribute__((noinline)) static void electric(box *b)
{
	size_t row = b->row, plane = b->plane;
	const double *hx = b->h[0], *hy = b->h[1], *hz = b->h[2], *gain = b->gain, *keep = b->keep;
	double *ex = b->e[0], *ey = b->e[1], *ez = b->e[2];
	int n = b->n;

	for (int z = 0; z < n; z++)
		for (int y = 0; y < n; y++) {
			size_t i = z * plane + y * row;
			for (int x = 0; x < n; x++, i++) {
				if (y > 0 && z > 0)
					ex[i] = keep[i] * ex[i] + gain[i] * (hz[i] - hz[i - row] - hy[i] + hy[i - plane]);
				if (z > 0 && x > 0)
					ey[i] = keep[i] * ey[i] + gain[i] * (hx[i] - hx[i - plane] - hz[i] + hz[i - 1]);
				if (x > 0 && y > 0)
					ez[i] = keep[i] * ez[i] + gain[i] * (hy[i] - hy[i - 1] - hx[i] + hx[i - row]);
			}
		}
}
