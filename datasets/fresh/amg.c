/* Algebraic multigrid: conjugate gradients, preconditioned by a cycle over coarser and
   coarser matrices, each made of the one before by joining unknowns that are strongly
   coupled. The finest matrix has five points on an N x N mesh, whose coefficients vary and
   jump. N is the argument; matrices, in compressed rows, are on the heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 20, COARSEST = 30, ITERATIONS = 8 };

struct level {
	int rows, *start, *column;
	double *value;
	int *aggregate;       /* the coarser level's row that each row is part of */
	double *x, *b, *rest; /* solution, right side, residual */
};

static struct level levels[LEVELS];
static int depth;

static void *array(size_t count, size_t size)
{
	void *a = malloc(count * size);

	if (!a) {
		puts("amg: out of memory");
		exit(2);
	}
	return a;
}

static void allocate(struct level *l, int rows, int entries)
{
	l->rows = rows;
	l->start = array(rows + 1, sizeof *l->start);
	l->column = array(entries, sizeof *l->column);
	l->value = array(entries, sizeof *l->value);
	l->aggregate = array(rows, sizeof *l->aggregate);
	l->x = array(rows, sizeof *l->x);
	l->b = array(rows, sizeof *l->b);
	l->rest = array(rows, sizeof *l->rest);
}

/* edge returns the coefficient between mesh points that differ by one step, of which
   (y, x) is the one with larger coordinates. */
static double edge(int n, int y, int x, int across)
{
	double jump = 3 * x > n && 3 * x < 2 * n && 2 * y > n ? 20 : 1;

	return jump * (1 + (x * 7 + y * 3 + across) % 3);
}

static void mesh(struct level *l, int n)
{
	int e = 0;

	allocate(l, n * n, 5 * n * n);
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			double north = edge(n, y, x, 0), south = edge(n, y + 1, x, 0);
			double west = edge(n, y, x, 1), east = edge(n, y, x + 1, 1);
			int i = y * n + x;
			l->start[i] = e;
			if (y > 0)
				l->column[e] = i - n, l->value[e++] = -north;
			if (x > 0)
				l->column[e] = i - 1, l->value[e++] = -west;
			l->column[e] = i, l->value[e++] = north + south + west + east;
			if (x < n - 1)
				l->column[e] = i + 1, l->value[e++] = -east;
			if (y < n - 1)
				l->column[e] = i + n, l->value[e++] = -south;
		}
	l->start[n * n] = e;
}

/* join sets l->aggregate and returns how many aggregates there are: first rows with all
   of their strong neighbours, as long as none of these is taken; then the rows left, each
   with its strongest neighbour, or alone if it has none. */
static int join(struct level *l)
{
	int count = 0;

	for (int i = 0; i < l->rows; i++)
		l->aggregate[i] = -1;
	for (int i = 0; i < l->rows; i++) {
		double strongest = 0;
		int taken = l->aggregate[i] >= 0;
		for (int e = l->start[i]; e < l->start[i + 1]; e++)
			strongest = fmax(strongest, -l->value[e]);
		for (int e = l->start[i]; e < l->start[i + 1] && !taken; e++)
			taken = -l->value[e] >= 0.25 * strongest && l->aggregate[l->column[e]] >= 0;
		if (taken)
			continue;
		for (int e = l->start[i]; e < l->start[i + 1]; e++)
			if (l->column[e] == i || -l->value[e] >= 0.25 * strongest)
				l->aggregate[l->column[e]] = count;
		count++;
	}
	for (int i = 0; i < l->rows; i++) {
		double strongest = 0;
		int to = -1;
		if (l->aggregate[i] >= 0)
			continue;
		for (int e = l->start[i]; e < l->start[i + 1]; e++)
			if (-l->value[e] > strongest && l->aggregate[l->column[e]] >= 0) {
				strongest = -l->value[e];
				to = l->aggregate[l->column[e]];
			}
		l->aggregate[i] = to >= 0 ? to : count++;
	}
	return count;
}

/* coarsen makes the coarser matrix: entries between two aggregates, summed. */
static void coarsen(const struct level *fine, struct level *coarse, int rows)
{
	int *first = array(rows, sizeof *first), *next = array(fine->rows, sizeof *next);
	int *place = array(rows, sizeof *place), e = 0;

	allocate(coarse, rows, fine->start[fine->rows]);
	for (int a = 0; a < rows; a++)
		first[a] = place[a] = -1;
	for (int i = fine->rows - 1; i >= 0; i--) {
		next[i] = first[fine->aggregate[i]];
		first[fine->aggregate[i]] = i;
	}
	for (int a = 0; a < rows; a++) {
		coarse->start[a] = e;
		for (int i = first[a]; i >= 0; i = next[i])
			for (int f = fine->start[i]; f < fine->start[i + 1]; f++) {
				int to = fine->aggregate[fine->column[f]];
				if (place[to] < coarse->start[a]) {
					place[to] = e;
					coarse->column[e] = to;
					coarse->value[e++] = 0;
				}
				coarse->value[place[to]] += fine->value[f];
			}
	}
	coarse->start[rows] = e;
	free(first), free(next), free(place);
}

/* relax does a Gauss-Seidel sweep, forwards or backwards. */
static void relax(struct level *l, int forwards)
{
	for (int k = 0; k < l->rows; k++) {
		int i = forwards ? k : l->rows - 1 - k;
		double sum = l->b[i], diagonal = 1;
		for (int e = l->start[i]; e < l->start[i + 1]; e++)
			if (l->column[e] == i)
				diagonal = l->value[e];
			else
				sum -= l->value[e] * l->x[l->column[e]];
		l->x[i] = sum / diagonal;
	}
}

static void multiply(const struct level *l, const double *x, double *y)
{
	for (int i = 0; i < l->rows; i++) {
		double sum = 0;
		for (int e = l->start[i]; e < l->start[i + 1]; e++)
			sum += l->value[e] * x[l->column[e]];
		y[i] = sum;
	}
}

/* cycle comes nearer to the solution from what x is; the coarser level, from zero, does so
   twice. */
static void cycle(int at)
{
	struct level *l = &levels[at], *coarse = l + 1;

	if (at == depth - 1) {
		for (int s = 0; s < 10; s++)
			relax(l, 1), relax(l, 0);
		return;
	}
	relax(l, 1);
	multiply(l, l->x, l->rest);
	for (int a = 0; a < coarse->rows; a++)
		coarse->b[a] = coarse->x[a] = 0;
	for (int i = 0; i < l->rows; i++)
		coarse->b[l->aggregate[i]] += l->b[i] - l->rest[i];
	cycle(at + 1), cycle(at + 1);
	for (int i = 0; i < l->rows; i++)
		l->x[i] += coarse->x[l->aggregate[i]];
	relax(l, 0);
}

static double dot(const double *x, const double *y, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, rows = n * n, count;
	double *x, *p, *q, *known, rz = 1, begin = 0, end, drift = 0, sum = 0, coarseSum = 0;
	struct level *top = levels, *last;

	if (n < 2 || n > 4000) {
		puts("usage: amg N, at least 2");
		return 2;
	}
	mesh(top, n);
	for (depth = 1; depth < LEVELS && levels[depth - 1].rows > COARSEST; depth++) {
		count = join(&levels[depth - 1]);
		coarsen(&levels[depth - 1], &levels[depth], count);
	}
	x = array(rows, sizeof *x), known = array(rows, sizeof *known);
	p = array(rows, sizeof *p), q = array(rows, sizeof *q);
	for (int i = 0; i < rows; i++) {
		double u = (i % n + 0.5) / n, v = (i / n + 0.5) / n;
		known[i] = 16 * u * (1 - u) * v * (1 - v) + 0.1 * (i % 7 - 3);
		x[i] = p[i] = 0;
	}
	multiply(top, known, top->b);
	begin = dot(known, top->b, rows);
	for (int t = 0; t < ITERATIONS; t++) {
		double before = rz, alpha;
		for (int i = 0; i < rows; i++)
			top->x[i] = 0;
		cycle(0);
		rz = dot(top->x, top->b, rows);
		for (int i = 0; i < rows; i++)
			p[i] = top->x[i] + (t ? rz / before : 0) * p[i];
		multiply(top, p, q);
		alpha = rz / dot(p, q, rows);
		for (int i = 0; i < rows; i++) {
			x[i] += alpha * p[i];
			top->b[i] -= alpha * q[i];
		}
	}
	/* The error; the residual anew; sums of all entries of the first and last matrices. */
	for (int i = 0; i < rows; i++)
		x[i] -= known[i];
	multiply(top, x, q);
	for (int i = 0; i < rows; i++)
		drift = fmax(drift, fabs(q[i] + top->b[i]));
	end = dot(x, q, rows);
	last = &levels[depth - 1];
	for (int e = 0; e < top->start[rows]; e++)
		sum += top->value[e];
	for (int e = 0; e < last->start[last->rows]; e++)
		coarseSum += last->value[e];
	printf("amg: n %d, levels %d, energy of the error %.1e to %.1e, drift %.1e\n", n, depth,
	       begin, end, drift);
	return end < 1e-4 * begin && drift < 1e-9 && sum == coarseSum ? 0 : 1;
}
