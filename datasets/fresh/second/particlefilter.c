/* A particle filter follows a bright disc through the frames of a film: particles, of which
   there are n, the argument, are moved as the disc is thought to move, weighed by the pixels
   around them, and drawn anew by their weights, each by a search through the running sums
   from the first on. The film is static, particles are on the heap. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 96, FRAMES = 4, RADIUS = 4, DISC = 49, DARK = 100, BRIGHT = 228 };

typedef struct {
	double x, y, weight;
} particle;

static uint8_t film[FRAMES][SIDE][SIDE];
static int offsets[DISC][2];

static uint64_t seed = 3;

/* uniform draws from between 0 and 1. */
static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((seed >> 12) + 0.5) / 4503599627370496.0;
}

static double normal(void)
{
	double u = uniform(), v = uniform();

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* centre says where the disc is in a frame. */
static void centre(int f, int *x, int *y)
{
	*x = 20 + 5 * f;
	*y = 60 - 3 * f;
}

static int make_offsets(void)
{
	int count = 0;

	for (int dy = -RADIUS; dy <= RADIUS; dy++)
		for (int dx = -RADIUS; dx <= RADIUS; dx++)
			if (dx * dx + dy * dy <= RADIUS * RADIUS) {
				offsets[count][0] = dx;
				offsets[count][1] = dy;
				count++;
			}
	return count;
}

static void make_film(void)
{
	for (int f = 0; f < FRAMES; f++) {
		int cx, cy;
		centre(f, &cx, &cy);
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++) {
				int in = (x - cx) * (x - cx) + (y - cy) * (y - cy) <= RADIUS * RADIUS;
				film[f][y][x] = (in ? BRIGHT : DARK) + (int)(uniform() * 21) - 10;
			}
	}
}

static double *array(size_t count)
{
	double *a = malloc(count * sizeof *a);

	if (!a) {
		puts("particlefilter: out of memory");
		exit(2);
	}
	return a;
}

static int clamped(double v)
{
	int i = (int)lround(v);

	return i < 0 ? 0 : i >= SIDE ? SIDE - 1 : i;
}

/* likelihood compares the pixels of a disc with dark and with bright ones. */
static double likelihood(int f, const particle *p)
{
	double sum = 0;

	for (int k = 0; k < DISC; k++) {
		double v = film[f][clamped(p->y + offsets[k][1])][clamped(p->x + offsets[k][0])];
		sum += (v - DARK) * (v - DARK) - (v - BRIGHT) * (v - BRIGHT);
	}
	return sum / (50.0 * 128 * DISC);
}

static void move(int n, particle *p)
{
	for (int i = 0; i < n; i++) {
		p[i].x += 5 + 2 * normal();
		p[i].y += -3 + 2 * normal();
	}
}

/* weigh sets weights that add up to one, and their running sums. */
static void weigh(int f, int n, particle *p, double *sums)
{
	double total = 0, before = 0;

	for (int i = 0; i < n; i++) {
		p[i].weight *= exp(likelihood(f, &p[i]));
		total += p[i].weight;
	}
	for (int i = 0; i < n; i++) {
		p[i].weight /= total;
		before = sums[i] = before + p[i].weight;
	}
}

/* find returns the first particle whose running sum is at least u, or the last. */
static int find(int n, const double *sums, double u)
{
	for (int i = 0; i < n; i++)
		if (sums[i] >= u)
			return i;
	return n - 1;
}

/* resample draws particles anew at n places that lie evenly; those to whom they fell are
   left in from. */
static void resample(int n, const particle *p, const double *sums, double first, particle *next,
                     int *from)
{
	for (int i = 0; i < n; i++) {
		int k = find(n, sums, (first + i) / n);
		from[i] = k;
		next[i] = p[k];
		next[i].weight = 1.0 / n;
	}
}

/* resampled_wrong looks the same up by walking along both, which are in order. */
static int resampled_wrong(int n, const particle *p, const particle *next, const double *sums,
                           double first, const int *from)
{
	int k = 0, wrong = fabs(sums[n - 1] - 1) > 1e-9;

	for (int i = 0; i < n; i++) {
		while (k < n - 1 && sums[k] * n < first + i - 1e-7)
			k++;
		/* Next to a step it may be either side. */
		wrong += from[i] != k && fabs(sums[k] * n - first - i) > 1e-6;
		wrong += next[i].x != p[from[i]].x || next[i].y != p[from[i]].y;
	}
	return wrong;
}

/* weights_wrong compares two particles' likelihoods, from sums of brightness: the square
   of what is dark less that of what is bright is linear in it. */
static int weights_wrong(int f, int n, const particle *p)
{
	double log_ratio[2], pair[2];

	for (int j = 0; j < 2; j++) {
		const particle *q = &p[j ? n / 2 : n - 1];
		long brightness = 0;
		for (int y = -RADIUS; y <= RADIUS; y++)
			for (int x = -RADIUS; x <= RADIUS; x++)
				if (x * x + y * y <= RADIUS * RADIUS)
					brightness += film[f][clamped(q->y + y)][clamped(q->x + x)];
		log_ratio[j] = brightness * 2.0 * (BRIGHT - DARK);
		pair[j] = q->weight;
	}
	return !(fabs(log(pair[0] / pair[1]) -
	              (log_ratio[0] - log_ratio[1]) / (50.0 * 128 * DISC)) < 1e-9);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0, *from;
	particle *p, *next;
	double *sums, far = 0;

	if (n < 50 || n > 1000000) {
		puts("usage: particlefilter N, from 50");
		return 2;
	}
	p = malloc(n * sizeof *p), next = malloc(n * sizeof *next);
	from = malloc(n * sizeof *from), sums = array(n);
	if (!p || !next || !from)
		return 2;
	wrong += make_offsets() != DISC;
	make_film();
	for (int i = 0; i < n; i++) {
		int x, y;
		centre(0, &x, &y);
		p[i] = (particle){ x, y, 1.0 / n };
	}
	for (int f = 1; f < FRAMES; f++) {
		double first = uniform(), x = 0, y = 0;
		particle *swap = p;
		int cx, cy;
		move(n, p);
		weigh(f, n, p, sums);
		for (int i = 0; i < n; i++) {
			x += p[i].x * p[i].weight;
			y += p[i].y * p[i].weight;
		}
		centre(f, &cx, &cy);
		far = fmax(far, hypot(x - cx, y - cy));
		wrong += weights_wrong(f, n, p);
		resample(n, p, sums, first, next, from);
		wrong += resampled_wrong(n, p, next, sums, first, from);
		p = next;
		next = swap;
	}
	printf("particlefilter: n %d, off by %.3f at most, wrong %d\n", n, far, wrong);
	return wrong || !(far < 2.5) ? 1 : 0;
}
