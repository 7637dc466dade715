#include "sweep3d.h"

#include <stdio.h>

/* Where a cell lies along one axis: its distance from the nearer face, and -1 if
 * that is the far face. */
typedef struct {
	int axis, depth;
	double sign;
} folded_axis;

static void swap_if_deeper(folded_axis *a, folded_axis *b)
{
	if (b->depth < a->depth) {
		folded_axis t = *a;
		*a = *b;
		*b = t;
	}
}

/* fold sets f to the axes of a cell by ascending depth. */
static void fold(folded_axis f[3], int n, int c)
{
	const int at[3] = {c % n, c / n % n, c / (n * n)};

	for (int axis = 0; axis < 3; axis++) {
		bool far = at[axis] > n - 1 - at[axis];
		f[axis] = (folded_axis){axis, far ? n - 1 - at[axis] : at[axis], far ? -1 : 1};
	}
	swap_if_deeper(&f[0], &f[1]);
	swap_if_deeper(&f[1], &f[2]);
	swap_if_deeper(&f[0], &f[1]);
}

/* flux_scale returns the smallest flux that relative differences refer to. */
static double flux_scale(const problem *p)
{
	double peak = 0;

	for (int c = 0; c < p->cells; c++)
		peak = larger(peak, fabs(p->flux[c]));
	return p->floor == 0 ? peak * FAINT_FLUX : peak;
}

/* asymmetry compares each cell with the one of its equivalents under the 48
 * symmetries of the cube whose distances from the nearer faces ascend. */
static void asymmetry(const problem *p, findings *f)
{
	int n = p->n, cells = p->cells;
	double scale = flux_scale(p);

	for (int c = 0; c < cells; c++) {
		folded_axis axes[3];
		int equal;
		double diff, rel;
		fold(axes, n, c);
		equal = (axes[2].depth * n + axes[1].depth) * n + axes[0].depth;
		diff = fabs(p->flux[c] - p->flux[equal]);
		for (int l = 0; l < 3; l++) {
			double mine = axes[l].sign * p->flux[(1 + axes[l].axis) * cells + c];
			diff = larger(diff, fabs(mine - p->flux[(1 + l) * cells + equal]));
		}
		rel = diff / larger(fabs(p->flux[equal]), scale);
		if (rel > f->asymmetry || isnan(rel)) {
			f->asymmetry = rel;
			f->asymmetry_in = c;
		}
	}
}

findings examine(const problem *p)
{
	findings f = {0};

	for (int it = 0; it < p->iterations; it++) {
		double r = residual(&p->history[it].bal);
		if (r > f.imbalance || isnan(r)) {
			f.imbalance = r;
			f.imbalance_in = it + 1;
		}
	}
	asymmetry(p, &f);
	return f;
}

/* fluxes_allowed checks that fluxes are finite and, with fixup, not negative. */
static bool fluxes_allowed(const problem *p)
{
	int n = p->n;

	for (int c = 0; c < p->cells; c++)
		if (!isfinite(p->flux[c]) || (p->floor == 0 && p->flux[c] < 0)) {
			printf("verification: FAILED: the flux in cell (%d, %d, %d) is %g\n", c % n, c / n % n, c / (n * n), p->flux[c]);
			return false;
		}
	return true;
}

/* leaks_equally checks that as much leaves through each face. */
static bool leaks_equally(const problem *p)
{
	double scale = larger(p->leak[0], FAINT_FLUX * p->history[p->iterations - 1].bal.external);

	for (int face = 0; face < 6; face++) {
		double d = fabs(p->leak[face] - p->leak[0]) / scale;
		if (!(d <= SYMMETRY_TOLERANCE)) {
			printf("verification: FAILED: the leakage through face %d differs by %.3g from that through face 0, more than rounding (%g)\n", face, d, SYMMETRY_TOLERANCE);
			return false;
		}
	}
	return true;
}

bool verify(const problem *p, const findings *f)
{
	int n = p->n, c = f->asymmetry_in;

	if (!fluxes_allowed(p))
		return false;
	if (!(f->imbalance <= BALANCE_TOLERANCE)) {
		printf("verification: FAILED: iteration %d loses or gains %.3g of its particles, more than rounding (%g)\n", f->imbalance_in, f->imbalance, BALANCE_TOLERANCE);
		return false;
	}
	if (!(f->asymmetry <= SYMMETRY_TOLERANCE)) {
		printf("verification: FAILED: the flux moments in cell (%d, %d, %d) differ by %.3g from an equivalent cell's, more than rounding (%g)\n", c % n, c / n % n, c / (n * n), f->asymmetry, SYMMETRY_TOLERANCE);
		return false;
	}
	return leaks_equally(p);
}
