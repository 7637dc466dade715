#include "sweep3d.h"

#include <stdio.h>
#include <stdlib.h>

/* A number of 17 digits, with sign, point and exponent. */
typedef struct {
	char digits[32];
} text;

/* shortest writes x in as few digits as tell it from all others. */
static text shortest(double x)
{
	text t;

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(t.digits, sizeof t.digits, "%.*g", digits, x);
		if (strtod(t.digits, NULL) == x)
			break;
	}
	return t;
}

static void within(const char *law, double x, double tolerance)
{
	if (x <= tolerance)
		printf("%s: relative error below %g\n", law, tolerance);
	else
		printf("%s: relative error %.3g, above %g\n", law, x, tolerance);
}

void report(const problem *p, const options *o, const findings *f)
{
	int side = o->n - 2 * margin(o);
	text sigt = shortest(o->sigt), scattering = shortest(o->scattering), anisotropy = shortest(o->anisotropy);
	const particles *last = &p->history[p->iterations - 1].bal;
	double total = 0, peak = 0;

	printf("sweep3d: n %d, iterations %d, angles %d (S6), moments %d, mk %d, mmi %d, fixup %s\n",
	       o->n, o->iterations, OCTANTS * ANGLES, MOMENTS, o->mk, o->mmi, o->fixup ? "on" : "off");
	printf("medium: sigma_t %s, scattering ratio %s, anisotropy %s, source in the middle %d x %d x %d cells\n",
	       sigt.digits, scattering.digits, anisotropy.digits, side, side, side);
	for (int it = 0; it < p->iterations; it++)
		printf("iteration %d: flux error %.5e, fixups %d\n", it + 1, p->history[it].err, p->history[it].fixups);
	for (int c = 0; c < p->cells; c++) {
		total += p->flux[c];
		peak = larger(peak, p->flux[c]);
	}
	printf("flux: sum %.8e, maximum %.8e\n", total, peak);
	printf("particles: external %.8e, scattered in %.8e, collided %.8e, leaked %.8e\n",
	       last->external, last->scattered, last->collided, last->leaked);
	within("balance", f->imbalance, BALANCE_TOLERANCE);
	within("symmetry", f->asymmetry, SYMMETRY_TOLERANCE);
}
