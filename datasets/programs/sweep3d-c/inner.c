#include "sweep3d.h"

static void source(problem *p);
static double flux_err(const problem *p);
static particles balance(const problem *p);

/* inner runs the outer iterations. */
__attribute__((noinline)) void inner(problem *p)
{
	for (int it = 0; it < p->iterations; it++) {
		iteration *h = &p->history[it];
		source(p);
		h->fixups = sweep(p);
		h->bal = balance(p);
		h->err = flux_err(p);
	}
}

/* scatter sets a moment of the source that is not the first. */
static void scatter(double *restrict src, double *restrict flux, const double *restrict sigs, int cells)
{
	for (int c = 0; c < cells; c++) {
		src[c] = sigs[c] * flux[c];
		flux[c] = 0;
	}
}

/* source makes the source moments from the flux moments, keeps the scalar flux,
 * and sets the flux moments to zero for the sweep to sum up. */
__attribute__((noinline)) static void source(problem *p)
{
	int cells = p->cells;
	double *restrict flux = p->flux, *restrict src = p->src, *restrict pflux = p->pflux;
	const double *restrict srcx = p->srcx, *restrict sigs = p->sigs;

	for (int c = 0; c < cells; c++) {
		src[c] = srcx[c] + sigs[c] * flux[c];
		pflux[c] = flux[c];
		flux[c] = 0;
	}
	for (int l = 1; l < MOMENTS; l++)
		scatter(src + l * cells, flux + l * cells, sigs + cells, cells);
}

/* flux_err returns the largest relative change of the scalar flux. */
__attribute__((noinline)) static double flux_err(const problem *p)
{
	int cells = p->cells;
	const double *flux = p->flux, *pflux = p->pflux;
	double worst = 0;

	for (int c = 0; c < cells; c++)
		if (flux[c] != 0)
			worst = larger(worst, fabs((flux[c] - pflux[c]) / flux[c]));
	return worst;
}

static void add(particles *s, const particles *t)
{
	s->external += t->external;
	s->scattered += t->scattered;
	s->collided += t->collided;
	s->leaked += t->leaked;
}

/* balance counts particles in the sweep just done, by lines, planes, and all. */
__attribute__((noinline)) static particles balance(const problem *p)
{
	int n = p->n;
	particles total = {0};

	for (int k = 0; k < n; k++) {
		particles plane = {0};
		for (int j = 0; j < n; j++) {
			int at = (k * n + j) * n;
			const double *src = p->src + at, *srcx = p->srcx + at;
			const double *flux = p->flux + at, *sigt = p->sigt + at;
			particles line = {0};
			for (int i = 0; i < n; i++) {
				line.external += srcx[i];
				line.scattered += src[i] - srcx[i];
				line.collided += sigt[i] * flux[i];
			}
			add(&plane, &line);
		}
		add(&total, &plane);
	}
	for (int face = 0; face < 6; face++)
		total.leaked += p->leak[face];
	return total;
}

/* residual returns the particles that are unaccounted for, as a share of those
 * that came from the sources. */
double residual(const particles *s)
{
	double in = s->external + s->scattered;

	return fabs(in - s->collided - s->leaked) / in;
}
