/* Table look-ups as in Monte Carlo transport: for random energies and materials, the
   cross sections of a material's nuclides, found by bisection in one grid of all
   energies that points into the grid of each nuclide. The points of a nuclide's grid
   are the argument, and twenty times as many look-ups are made; tables are on the
   heap. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUCLIDES = 12, KINDS = 3, MATERIALS = 4, LOOKUPS = 20 };

typedef struct {
	double energy, section[KINDS];
} point;

static int n;        /* points of a grid */
static point *table; /* the grid of each nuclide, one after the other */
static double *all;  /* energies of all of them, ascending */
static int32_t *at;  /* for each of these, the last point of each nuclide at or below it */

static uint64_t state = 2024;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 11) / 9007199254740992.0;
}

static void *array(size_t count, size_t size)
{
	void *a = malloc(count * size);

	if (!a) {
		puts("transport: out of memory");
		exit(2);
	}
	return a;
}

/* sections are linear in the energy, so that interpolating is exact. */
static double section(int nuclide, int kind, double energy) { return 1 + nuclide + kind * energy; }

static void makeTables(void)
{
	table = array((size_t)NUCLIDES * n, sizeof *table);
	all = array((size_t)NUCLIDES * n, sizeof *all);
	at = array((size_t)NUCLIDES * NUCLIDES * n, sizeof *at);
	for (int v = 0; v < NUCLIDES; v++)
		for (int i = 0; i < n; i++) {
			point *p = &table[(size_t)v * n + i];
			double jitter = i == 0 || i == n - 1 ? 0 : 0.8 * (uniform() - 0.5);
			p->energy = (i + jitter) / (n - 1);
			for (int k = 0; k < KINDS; k++)
				p->section[k] = section(v, k, p->energy);
		}
	int32_t next[NUCLIDES] = {0};
	for (size_t e = 0; e < (size_t)NUCLIDES * n; e++) {
		int least = -1;
		for (int v = 0; v < NUCLIDES; v++)
			if (next[v] < n && (least < 0 || table[(size_t)v * n + next[v]].energy < table[(size_t)least * n + next[least]].energy))
				least = v;
		all[e] = table[(size_t)least * n + next[least]++].energy;
		for (int v = 0; v < NUCLIDES; v++)
			at[e * NUCLIDES + v] = next[v] == 0 ? 0 : next[v] - 1;
	}
}

/* look adds the cross sections of a material at an energy to sums. */
static void look(double energy, int material, double *sums)
{
	size_t lo = 0, hi = (size_t)NUCLIDES * n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (all[mid] <= energy)
			lo = mid;
		else
			hi = mid;
	}
	for (int v = material; v < NUCLIDES; v += material + 1) {
		int32_t i = at[lo * NUCLIDES + v];
		const point *p = &table[(size_t)v * n + (i < n - 1 ? i : n - 2)];
		double share = (energy - p[0].energy) / (p[1].energy - p[0].energy);
		for (int k = 0; k < KINDS; k++)
			sums[k] += p[0].section[k] + share * (p[1].section[k] - p[0].section[k]);
	}
}

int main(int argc, char **argv)
{
	double sums[KINDS] = {0}, want[KINDS] = {0}, worst = 0;

	n = argc == 2 ? atoi(argv[1]) : 0;
	if (n < 2) {
		puts("usage: transport N, at least 2");
		return 2;
	}
	makeTables();
	for (long l = 0; l < (long)LOOKUPS * n; l++) {
		double energy = uniform();
		int material = (int)(uniform() * MATERIALS);
		look(energy, material, sums);
		for (int k = 0; k < KINDS; k++) /* what the formula gives, all nuclides together */
			for (int v = material; v < NUCLIDES; v += material + 1)
				want[k] += section(v, k, energy);
	}
	for (int k = 0; k < KINDS; k++)
		worst = fmax(worst, fabs(sums[k] / want[k] - 1));
	printf("transport: n %d, error %.1e\n", n, worst);
	free(table);
	free(all);
	free(at);
	return worst < 1e-10 ? 0 : 1;
}
