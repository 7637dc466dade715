/* Discrete ordinates transport through a slab of n cells: for each of eight directions a
   recurrence from one side to the other, whose weights are held between bounds, repeated as
   particles are scattered. The number of cells is the argument; arrays are on the heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIRECTIONS = 8, ITERATIONS = 8 };

static const double cosine[DIRECTIONS] = {
    -0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
    0.1834346424956498,  0.5255324099163290,  0.7966664774136267,  0.9602898564975363};
static const double weight[DIRECTIONS] = {
    0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
    0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

static int n;
static double *width, *total, *scatter, *made; /* of each cell */
static double *source, *flux, *psi;            /* psi by direction and cell */
static double leaked;

static double *array(size_t count)
{
	double *a = malloc(count * sizeof *a);

	if (!a) {
		puts("ordinates: out of memory");
		exit(2);
	}
	return a;
}

/* share returns how much of a cell's mean the far side makes up: from 1/2 (diamond
   differences) to 1 (a step), by how the cell changes what enters. */
static double share(double enters, double balance, double thickness)
{
	double change = balance - enters, s = 0.5;

	if (change != 0)
		s = 0.5 + 0.1 * thickness * enters / fabs(change);
	if (s > 1)
		s = 1;
	return s;
}

/* sweep follows one direction through all cells; angle is psi's row. */
static void sweep(int d, double *angle)
{
	int forwards = cosine[d] > 0;
	double mu = fabs(cosine[d]), enters = 0;

	for (int k = 0; k < n; k++) {
		int c = forwards ? k : n - 1 - k;
		double thickness = total[c] * width[c] / mu;
		double s = share(enters, source[c] / total[c], thickness);
		/* mean = s out + (1 - s) in, and out - in + thickness mean = made inside */
		double inside = source[c] * width[c] / mu;
		double mean = (enters + s * inside) / (1 + s * thickness);
		double out = enters + inside - thickness * mean;
		angle[c] = mean;
		flux[c] += weight[d] * mean;
		enters = out;
	}
	leaked += weight[d] * mu * enters;
}

/* off returns by how much the means of a direction fail to lie between what enters and
   what leaves as they should. */
static double off(int d, const double *angle)
{
	double mu = fabs(cosine[d]), enters = 0, worst = 0;

	for (int k = 0; k < n; k++) {
		int c = d >= DIRECTIONS / 2 ? k : n - 1 - k;
		double thickness = total[c] * width[c] / mu;
		double s = share(enters, source[c] / total[c], thickness);
		double out = enters + source[c] * width[c] / mu - thickness * angle[c];
		worst = fmax(worst, fabs(s * out + (1 - s) * enters - angle[c]));
		enters = out;
	}
	return worst;
}

int main(int argc, char **argv)
{
	double balance = 0, scale = 0, worst = 0, low = 0;

	n = argc == 2 ? atoi(argv[1]) : 0;
	if (n < 1) {
		puts("usage: ordinates N");
		return 2;
	}
	width = array(n), total = array(n), scatter = array(n), made = array(n);
	source = array(n), flux = array(n), psi = array((size_t)DIRECTIONS * n);
	for (int c = 0; c < n; c++) {
		width[c] = (1 + 0.25 * (c % 3)) * 20 / n;
		total[c] = 1 + 0.5 * (c % 7);
		scatter[c] = total[c] * (0.3 + 0.1 * (c % 4));
		made[c] = c > n / 3 && c < 2 * n / 3 ? 1 : 0.1;
		flux[c] = 0;
	}
	for (int t = 0; t < ITERATIONS; t++) {
		for (int c = 0; c < n; c++) {
			source[c] = 0.5 * (made[c] + scatter[c] * flux[c]);
			flux[c] = 0;
		}
		leaked = 0;
		for (int d = 0; d < DIRECTIONS; d++)
			sweep(d, psi + (size_t)d * n);
	}
	/* What is made, scattering of the iteration before included, collides or leaks. */
	for (int c = 0; c < n; c++) {
		double sum = 0;
		for (int d = 0; d < DIRECTIONS; d++) {
			sum += weight[d] * psi[(size_t)d * n + c];
			low = fmin(low, psi[(size_t)d * n + c]);
		}
		worst = fmax(worst, fabs(sum - flux[c]));
		balance += (2 * source[c] - total[c] * sum) * width[c];
		scale += 2 * source[c] * width[c];
	}
	for (int d = 1; d < DIRECTIONS; d += 5)
		worst = fmax(worst, off(d, psi + (size_t)d * n));
	balance = fabs(balance - leaked) / scale;
	printf("ordinates: n %d, leaked %.4f of %.4f, balance %.1e, error %.1e\n", n, leaked, scale,
	       balance, worst);
	return balance < 1e-10 && worst < 1e-12 && low >= 0 && leaked > 0 ? 0 : 1;
}
