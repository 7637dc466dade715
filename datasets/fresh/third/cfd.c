/* Euler's equations of a gas by finite volumes on an unstructured mesh: fluxes through the
   four faces of each element from it and its neighbours, with artificial viscosity, and two
   steps in time of three stages each. The mesh is a periodic bar of 8 x 8 x n cubes, n being
   the argument, each of six tetrahedra, numbered at random in groups. Variables and normals
   are arrays on the heap, one behind the other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, PARTS = 6, FACES = 4, GROUP = 256, STEPS = 2, STAGES = 3 };
enum { DENSITY, MOMENTUM, ENERGY = MOMENTUM + 3, VARIABLES };

static const double gas = 1.4, pi = 3.14159265358979323846, volume = 1.0 / PARTS;
static const double velocity[3] = { 0.6, 0.3, -0.2 }, pressure = 0.8, swing = 0.3;

static const int orders[PARTS][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
	                              { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

typedef struct {
	int elements, length;
	int *neighbour;           /* face f of element e at f * elements + e */
	double *normal;           /* times the area: component c of it at (3 f + c) * elements + e */
	double *along;            /* where along the bar its middle is */
	double *now, *old, *flux; /* variable v at v * elements + e */
} mesh;

typedef struct {
	double density, momentum[3], energy, velocity[3], pressure, speed;
} state;

static void *space(size_t count, size_t bytes)
{
	void *p = calloc(count, bytes);

	if (!p) {
		puts("cfd: out of memory");
		exit(2);
	}
	return p;
}

/* shuffled returns numbers of elements at random, but near where they were. */
static int *shuffled(int count)
{
	int *number = space(count, sizeof *number);
	unsigned seed = 9;

	for (int i = 0; i < count; i++)
		number[i] = i;
	for (int from = 0; from < count; from += GROUP)
		for (int i = (count - from < GROUP ? count - from : GROUP) - 1; i > 0; i--) {
			seed = seed * 1664525u + 1013904223u;
			int j = (int)((unsigned long long)seed * (i + 1) >> 32);
			int k = number[from + i];
			number[from + i] = number[from + j];
			number[from + j] = k;
		}
	return number;
}

static int part_of(int a, int b, int c)
{
	for (int p = 0; p < PARTS; p++)
		if (orders[p][0] == a && orders[p][1] == b && orders[p][2] == c)
			return p;
	return -1;
}

/* element returns the number, before they are shuffled, of a part of the cube at x, y, z. */
static int element(const mesh *m, int x, int y, int z, int part)
{
	x = (x + m->length) % m->length;
	y = (y + SIDE) % SIDE;
	z = (z + SIDE) % SIDE;
	return ((x * SIDE + y) * SIDE + z) * PARTS + part;
}

/* beyond returns the element behind a face: the one opposite to corner f. Corners of a part
   go from the cube's first to its last, along axes a, b and c. */
static int beyond(const mesh *m, int x, int y, int z, int part, int f)
{
	int a = orders[part][0], b = orders[part][1], c = orders[part][2];

	switch (f) {
	case 0:
		return element(m, x + (a == 0), y + (a == 1), z + (a == 2), part_of(b, c, a));
	case 1:
		return element(m, x, y, z, part_of(b, a, c));
	case 2:
		return element(m, x, y, z, part_of(a, c, b));
	default:
		return element(m, x - (c == 0), y - (c == 1), z - (c == 2), part_of(c, a, b));
	}
}

static void normal_of(int part, int f, double *normal)
{
	double corner[4][3] = { { 0 } }, u[3], v[3], inside = 0;
	const double *p = corner[f == 0], *q = corner[f <= 1 ? 2 : 1], *r = corner[f <= 2 ? 3 : 2];

	for (int i = 1; i < 4; i++) {
		memcpy(corner[i], corner[i - 1], sizeof corner[i]);
		corner[i][orders[part][i - 1]] = 1;
	}
	for (int c = 0; c < 3; c++) {
		u[c] = q[c] - p[c];
		v[c] = r[c] - p[c];
	}
	for (int c = 0; c < 3; c++) {
		int d = (c + 1) % 3, e = (c + 2) % 3;
		normal[c] = (u[d] * v[e] - u[e] * v[d]) / 2;
		inside += normal[c] * (corner[f][c] - p[c]);
	}
	for (int c = 0; c < 3; c++)
		normal[c] = inside > 0 ? -normal[c] : normal[c];
}

/* middle returns where along its cube the middle of a part is. */
static double middle(int part)
{
	for (int i = 0; i < 3; i++)
		if (orders[part][i] == 0)
			return (3 - i) / 4.0;
	return 0;
}

static void build(mesh *m, int n)
{
	int count = m->elements = n * SIDE * SIDE * PARTS, *number;
	double normals[PARTS][FACES][3];

	m->length = n;
	m->neighbour = space((size_t)count * FACES, sizeof(int));
	m->normal = space((size_t)count * FACES * 3, sizeof(double));
	m->along = space(count, sizeof(double));
	m->now = space((size_t)count * VARIABLES, sizeof(double));
	m->old = space((size_t)count * VARIABLES, sizeof(double));
	m->flux = space((size_t)count * VARIABLES, sizeof(double));
	for (int p = 0; p < PARTS; p++)
		for (int f = 0; f < FACES; f++)
			normal_of(p, f, normals[p][f]);
	number = shuffled(count);
	for (int i = 0; i < count; i++) {
		int part = i % PARTS, z = i / PARTS % SIDE, y = i / PARTS / SIDE % SIDE;
		int x = i / PARTS / SIDE / SIDE, e = number[i];
		m->along[e] = x + middle(part);
		for (int f = 0; f < FACES; f++) {
			m->neighbour[f * count + e] = number[beyond(m, x, y, z, part, f)];
			for (int c = 0; c < 3; c++)
				m->normal[(size_t)(3 * f + c) * count + e] = normals[part][f][c];
		}
	}
	free(number);
}

/* start puts in a wave of density, carried by a flow of one velocity and pressure. */
static void start(mesh *m)
{
	int count = m->elements;

	for (int e = 0; e < count; e++) {
		double density = 1 + swing * sin(2 * pi * m->along[e] / m->length), square = 0;
		m->now[e] = density;
		for (int c = 0; c < 3; c++) {
			m->now[(MOMENTUM + c) * count + e] = density * velocity[c];
			square += velocity[c] * velocity[c];
		}
		m->now[ENERGY * count + e] = pressure / (gas - 1) + density * square / 2;
	}
}

static inline state load(const double *variables, int count, int e)
{
	state s;
	double square = 0;

	s.density = variables[e];
	s.energy = variables[ENERGY * count + e];
	for (int c = 0; c < 3; c++) {
		s.momentum[c] = variables[(MOMENTUM + c) * count + e];
		s.velocity[c] = s.momentum[c] / s.density;
		square += s.velocity[c] * s.velocity[c];
	}
	s.pressure = (gas - 1) * (s.energy - s.density * square / 2);
	s.speed = sqrt(square) + sqrt(gas * s.pressure / s.density);
	return s;
}

/* longest returns the step in time that all elements can take. */
static double longest(const mesh *m)
{
	double step = 1;

	for (int e = 0; e < m->elements; e++) {
		double possible = 0.4 * volume / load(m->now, m->elements, e).speed;
		step = possible < step ? possible : step;
	}
	return step;
}

static void fluxes(mesh *m)
{
	int count = m->elements;

	for (int e = 0; e < count; e++) {
		state here = load(m->now, count, e);
		double density = 0, momentum[3] = { 0 }, energy = 0;
		for (int f = 0; f < FACES; f++) {
			state there = load(m->now, count, m->neighbour[f * count + e]);
			const double *normal = m->normal + (size_t)3 * f * count + e;
			double n[3] = { normal[0], normal[count], normal[2 * (size_t)count] };
			double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
			double viscosity = area / 4 * (here.speed + there.speed);
			double out = 0, in = 0;
			for (int c = 0; c < 3; c++) {
				out += here.velocity[c] * n[c] / 2;
				in += there.velocity[c] * n[c] / 2;
			}
			density += viscosity * (there.density - here.density) -
			           out * here.density - in * there.density;
			for (int c = 0; c < 3; c++)
				momentum[c] += viscosity * (there.momentum[c] - here.momentum[c]) -
				               out * here.momentum[c] - in * there.momentum[c] -
				               (here.pressure + there.pressure) / 2 * n[c];
			energy += viscosity * (there.energy - here.energy) -
			          out * (here.energy + here.pressure) -
			          in * (there.energy + there.pressure);
		}
		m->flux[e] = density;
		for (int c = 0; c < 3; c++)
			m->flux[(MOMENTUM + c) * count + e] = momentum[c];
		m->flux[ENERGY * count + e] = energy;
	}
}

static void advance(mesh *m, double step)
{
	size_t all = (size_t)m->elements * VARIABLES;

	for (size_t i = 0; i < all; i++)
		m->now[i] = m->old[i] + step / volume * m->flux[i];
}

/* worse returns the larger, and what is not a number if one is. */
static double worse(double a, double b)
{
	return a >= b || a != a ? a : b;
}

/* disturb lets pressures differ. */
static void disturb(mesh *m)
{
	for (int e = 0; e < m->elements; e++)
		m->now[ENERGY * m->elements + e] *= 1 + e % 7 / 50.0;
}

/* again returns how far fluxes of an element are from those that follow from density, velocity,
   pressure and enthalpy, side by side. */
static double again(const mesh *m, int e)
{
	int count = m->elements;
	double sum[VARIABLES] = { 0 }, size = 0, error = 0;
	state own = load(m->now, count, e);

	for (int f = 0; f < FACES; f++) {
		double n[3], area = 0;
		state s[2] = { own, load(m->now, count, m->neighbour[f * count + e]) };
		for (int c = 0; c < 3; c++) {
			n[c] = m->normal[(size_t)(3 * f + c) * count + e];
			area += n[c] * n[c];
		}
		area = sqrt(area);
		for (int side = 0; side < 2; side++) {
			const double *v = s[side].velocity;
			double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
			double mass = s[side].density * (v[0] * n[0] + v[1] * n[1] + v[2] * n[2]);
			double sound = sqrt(gas * s[side].pressure / s[side].density);
			double enthalpy = sound * sound / (gas - 1) + square / 2;
			double other = sqrt(gas * s[!side].pressure / s[!side].density);
			double fastest = sqrt(square) + sound + other;
			const double *w = s[!side].velocity;
			fastest += sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
			fastest *= (side ? area : -area) / 4;
			sum[DENSITY] += fastest * s[side].density - mass / 2;
			for (int c = 0; c < 3; c++)
				sum[MOMENTUM + c] += fastest * s[side].density * v[c] -
				                     (mass * v[c] + s[side].pressure * n[c]) / 2;
			sum[ENERGY] += fastest * (s[side].pressure / (gas - 1) +
			                          s[side].density * square / 2) -
			               mass * enthalpy / 2;
			size += area * fabs(mass * enthalpy) + area;
		}
	}
	for (int k = 0; k < VARIABLES; k++)
		error = worse(error, fabs(m->flux[k * count + e] - sum[k]) / size);
	return error;
}

/* kept returns how far velocity and pressure are from where they began, and all mass. */
static double kept(const mesh *m)
{
	double error = 0, mass = 0;

	for (int e = 0; e < m->elements; e++) {
		state s = load(m->now, m->elements, e);
		for (int c = 0; c < 3; c++)
			error = worse(error, fabs(s.velocity[c] - velocity[c]));
		error = worse(error, fabs(s.pressure - pressure));
		error = worse(error, s.density > 1 + swing || s.density < 1 - swing);
		mass += s.density;
	}
	return worse(error, fabs(mass / m->elements - 1));
}

/* phase returns how far the wave has got along the bar. */
static double phase(const mesh *m)
{
	double sine = 0, cosine = 0;

	for (int e = 0; e < m->elements; e++) {
		double angle = 2 * pi * m->along[e] / m->length;
		sine += m->now[e] * sin(angle);
		cosine += m->now[e] * cos(angle);
	}
	return atan2(-cosine, sine) / (2 * pi) * m->length;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double time = 0, error, before, way;
	mesh m;

	if (n < 8 || n > 4096) {
		puts("usage: cfd N, from 8");
		return 2;
	}
	build(&m, n);
	start(&m);
	before = phase(&m);
	for (int t = 0; t < STEPS; t++) {
		double step = longest(&m);
		memcpy(m.old, m.now, sizeof(double) * m.elements * VARIABLES);
		for (int stage = 0; stage < STAGES; stage++) {
			fluxes(&m);
			advance(&m, step / (STAGES - stage));
		}
		time += step;
	}
	way = phase(&m) - before;
	error = kept(&m);
	disturb(&m);
	fluxes(&m);
	for (int e = 0; e < m.elements; e += 97)
		error = worse(error, again(&m, e));
	printf("cfd: n %d, time %.4f, way %.5f of %.5f, error %.1e\n", n, time, way,
	       time * velocity[0], error);
	return error < 1e-11 && fabs(way / (time * velocity[0]) - 1) < 0.02 ? 0 : 1;
}
