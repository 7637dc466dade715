#include "sweep3d.h"

#include <stdlib.h>
#include <string.h>

bool allocate(problem *p, const options *o)
{
	size_t n = (size_t)o->n, cells = n * n * n;
	size_t mk = (size_t)smaller(o->mk, o->n), mmi = (size_t)o->mmi; /* no block has more planes */
	const struct {
		double **array;
		size_t elements;
	} arrays[] = {
		{&p->flux, MOMENTS * cells},
		{&p->src, MOMENTS * cells},
		{&p->sigt, cells},
		{&p->sigs, 2 * cells},
		{&p->srcx, cells},
		{&p->pflux, cells},
		{&p->phiib, n * mk * mmi},
		{&p->phijb, n * mk * mmi},
		{&p->phikb, n * n * mmi},
		{&p->phi, n},
	};
	bool ok;

	*p = (problem){.n = o->n, .cells = (int)cells, .mk = (int)mk, .mmi = o->mmi, .iterations = o->iterations};
	level_symmetric_s6(&p->quad);
	p->history = calloc((size_t)o->iterations, sizeof *p->history);
	ok = p->history;
	for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
		*arrays[i].array = calloc(arrays[i].elements, sizeof(double));
		ok = ok && *arrays[i].array;
	}
	return ok;
}

static bool inside(int i, int n, int edge)
{
	return i >= edge && i < n - edge;
}

/* initialize sets the cross-sections, the external source in the middle, and a
 * flux of zero to start from. */
__attribute__((noinline)) void initialize(problem *p, const options *o)
{
	int n = p->n, cells = p->cells, edge = margin(o), c = 0;
	double sigs0 = o->sigt * o->scattering, sigs1 = 3 * sigs0 * o->anisotropy;

	p->floor = o->fixup ? 0 : -INFINITY;
	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++, c++) {
				p->sigt[c] = o->sigt;
				p->sigs[c] = sigs0;
				p->sigs[cells + c] = sigs1;
				p->srcx[c] = inside(i, n, edge) && inside(j, n, edge) && inside(k, n, edge);
			}
	memset(p->flux, 0, MOMENTS * (size_t)cells * sizeof *p->flux);
	memset(p->pflux, 0, (size_t)cells * sizeof *p->pflux);
}
