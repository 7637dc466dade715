#include "sweep3d.h"

#include <string.h>

/* The part of an octant that is swept as one: its first angle and how many, its
 * first k-plane in the direction of travel and how many. */
typedef struct {
	int angle0, angles, k0, planes;
} block;

static int wavefront(problem *p, direction d, const block *b);
static void leak_lines(problem *p, direction d, const block *b);
static void leak_planes(problem *p, direction d, const block *b);

/* sweep solves for the angular flux in all ordinates, and sums up the flux
 * moments and the leakage. */
__attribute__((noinline)) int sweep(problem *p)
{
	int n = p->n, fixups = 0;
	size_t row = (size_t)n * sizeof(double), rows = (size_t)(p->mk * p->mmi);

	memset(p->leak, 0, sizeof p->leak);
	for (int iq = 0; iq < OCTANTS; iq++) {
		direction d = octant(iq);
		for (int angle0 = 0; angle0 < ANGLES; angle0 += p->mmi) {
			block b = {.angle0 = angle0, .angles = smaller(p->mmi, ANGLES - angle0)};
			memset(p->phikb, 0, (size_t)(n * p->mmi) * row); /* vacuum: nothing enters */
			for (int plane = 0; plane < n; plane += p->mk) {
				b.planes = smaller(p->mk, n - plane);
				b.k0 = d.k2 < 0 ? n - 1 - plane : plane;
				memset(p->phiib, 0, rows * row);
				memset(p->phijb, 0, rows * row);
				fixups += wavefront(p, d, &b);
				leak_lines(p, d, &b);
			}
			leak_planes(p, d, &b);
		}
	}
	return fixups;
}

/* wavefront sweeps a block by diagonals m + lk + j of its lines along i: angle m,
 * k-plane lk, row j, each counted from 0 in the direction of travel. */
__attribute__((noinline)) static int wavefront(problem *p, direction d, const block *b)
{
	int n = p->n, cells = p->cells, fixups = 0;

	for (int idiag = 0; idiag < n + b->planes + b->angles - 2; idiag++)
		for (int m = greater(0, idiag - (n - 1) - (b->planes - 1)); m <= smaller(b->angles - 1, idiag); m++) {
			int angle = b->angle0 + m;
			coefficients c = {2 * p->quad.mu[angle], 2 * p->quad.eta[angle], 2 * p->quad.xi[angle]};
			const double *pn = p->quad.pn[d.iq][angle];
			for (int lk = greater(0, idiag - m - (n - 1)); lk <= smaller(b->planes - 1, idiag - m); lk++) {
				int j = d.j2 < 0 ? n - 1 - (idiag - m - lk) : idiag - m - lk;
				int at = ((b->k0 + lk * d.k2) * n + j) * n;
				int row = m * p->mk + lk;
				double *psi_i = &p->phiib[row * n + j];

				angular_source(p->phi, p->src + at, cells, n, pn);
				*psi_i = solve_line(p->phi, p->sigt + at, p->phijb + row * n, p->phikb + (m * n + j) * n, n, *psi_i, &c, d.i2, p->floor, &fixups);
				add_moments(p->phi, p->flux + at, cells, n, p->quad.w[angle], pn);
			}
		}
	return fixups;
}

static double sum(const double *x, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += x[i];
	return s;
}

/* leak_lines adds what left the block through the faces i and j of the mesh. */
__attribute__((noinline)) static void leak_lines(problem *p, direction d, const block *b)
{
	int n = p->n;

	for (int m = 0; m < b->angles; m++) {
		int angle = b->angle0 + m;
		double w = p->quad.w[angle], sum_i = 0, sum_j = 0;
		for (int lk = 0; lk < b->planes; lk++) {
			int at = (m * p->mk + lk) * n;
			sum_i += sum(p->phiib + at, n);
			sum_j += sum(p->phijb + at, n);
		}
		p->leak[0 + (d.i2 + 1) / 2] += w * p->quad.mu[angle] * sum_i;
		p->leak[2 + (d.j2 + 1) / 2] += w * p->quad.eta[angle] * sum_j;
	}
}

/* leak_planes adds what left the mesh through its k-face. */
__attribute__((noinline)) static void leak_planes(problem *p, direction d, const block *b)
{
	int n = p->n;

	for (int m = 0; m < b->angles; m++) {
		int angle = b->angle0 + m;
		double total = 0;
		for (int j = 0; j < n; j++)
			total += sum(p->phikb + (m * n + j) * n, n);
		p->leak[4 + (d.k2 + 1) / 2] += p->quad.w[angle] * p->quad.xi[angle] * total;
	}
}
