#include "sweep3d.h"

static double fixup(double *phi, double *psi_j, double *psi_k, double psi_i, double sigt, const coefficients *c);

/* angular_source evaluates the source of a line in the direction of an ordinate. */
__attribute__((noinline)) void angular_source(double *restrict phi, const double *restrict src, int cells, int n, const double *pn)
{
	const double *src1 = src + cells, *src2 = src1 + cells, *src3 = src2 + cells;
	double pn1 = pn[1], pn2 = pn[2], pn3 = pn[3];

	for (int i = 0; i < n; i++)
		phi[i] = src[i] + pn1 * src1[i] + pn2 * src2[i] + pn3 * src3[i];
}

/* solve_line turns the source of a line into its angular flux, cell by cell in
 * direction i2, by the balance of a cell with diamond differences. It adds to
 * fixups the cells that were fixed up. */
__attribute__((noinline)) double solve_line(double *phi, const double *sigt, double *psi_j, double *psi_k, int n, double psi_i, const coefficients *c, int i2, double floor, int *fixups)
{
	double ci = c->i, cj = c->j, ck = c->k;
	int end = i2 < 0 ? -1 : n;

	for (int i = i2 < 0 ? n - 1 : 0; i != end; i += i2) {
		double in_j = psi_j[i], in_k = psi_k[i];
		double psi = (phi[i] + ci * psi_i + cj * in_j + ck * in_k) / (sigt[i] + ci + cj + ck);
		double out_i = 2 * psi - psi_i, out_j = 2 * psi - in_j, out_k = 2 * psi - in_k;
		if (out_i < floor || out_j < floor || out_k < floor) {
			psi_i = fixup(&phi[i], &psi_j[i], &psi_k[i], psi_i, sigt[i], c);
			++*fixups;
			continue;
		}
		phi[i] = psi;
		psi_i = out_i;
		psi_j[i] = out_j;
		psi_k[i] = out_k;
	}
	return psi_i;
}

/* add_moments adds a line's angular flux to the flux moments. */
__attribute__((noinline)) void add_moments(const double *restrict psi, double *restrict flux, int cells, int n, double w, const double *pn)
{
	double *flux1 = flux + cells, *flux2 = flux1 + cells, *flux3 = flux2 + cells;
	double w1 = w * pn[1], w2 = w * pn[2], w3 = w * pn[3];

	for (int i = 0; i < n; i++) {
		flux[i] += w * psi[i];
		flux1[i] += w1 * psi[i];
		flux2[i] += w2 * psi[i];
		flux3[i] += w3 * psi[i];
	}
}

/* add_to adds the terms of one axis to the numerator and the denominator. */
static void add_to(double *top, double *bottom, double c, double in, bool zero)
{
	if (zero) {
		*top += c * in / 2;
		return;
	}
	*top += c * in;
	*bottom += c;
}

/* fixup solves a cell in which an outgoing flux would be negative: it sets such
 * fluxes to zero until no other is. What enters the cell, and its source, are
 * replaced by what leaves it, and its flux; that along i is returned. */
__attribute__((noinline)) static double fixup(double *phi, double *psi_j, double *psi_k, double psi_i, double sigt, const coefficients *c)
{
	double q = *phi, in_j = *psi_j, in_k = *psi_k;
	double psi, out_i, out_j, out_k;
	bool zero_i = false, zero_j = false, zero_k = false, more;

	do {
		double top = q, bottom = sigt;
		add_to(&top, &bottom, c->i, psi_i, zero_i);
		add_to(&top, &bottom, c->j, in_j, zero_j);
		add_to(&top, &bottom, c->k, in_k, zero_k);
		psi = top / bottom;
		out_i = 2 * psi - psi_i;
		out_j = 2 * psi - in_j;
		out_k = 2 * psi - in_k;
		more = (!zero_i && out_i < 0) || (!zero_j && out_j < 0) || (!zero_k && out_k < 0);
		zero_i = zero_i || out_i < 0;
		zero_j = zero_j || out_j < 0;
		zero_k = zero_k || out_k < 0;
	} while (more);
	*phi = psi;
	*psi_j = zero_j ? 0 : out_j;
	*psi_k = zero_k ? 0 : out_k;
	return zero_i ? 0 : out_i;
}
