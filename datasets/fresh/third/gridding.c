/* Gridding for magnetic resonance: samples along spokes through k-space are sorted by blocks
   of the grid and spread over the n x n x n grid, n being the argument, with a Kaiser-Bessel
   kernel of four cells from a table, along with their density, by which cells are divided in
   the end. All is on the heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4, TABLE = 4096 };

typedef struct {
	float x, y, z, real, imaginary;
} sample;

typedef struct {
	float real, imaginary;
} cell;

static const double reach = 2, beta = 9.1, pi = 3.14159265358979323846;

static float table[TABLE + 1]; /* the kernel by the square of the distance */

static void *space(size_t count, size_t bytes)
{
	void *p = calloc(count, bytes);

	if (!p) {
		puts("gridding: out of memory");
		exit(2);
	}
	return p;
}

/* bessel returns the modified Bessel function of first kind and order zero. */
static double bessel(double x)
{
	double term = 1, sum = 1;

	for (int k = 1; term > 1e-16 * sum; k++) {
		term *= x * x / 4 / k / k;
		sum += term;
	}
	return sum;
}

/* kernel is one in the middle. */
static double kernel(double square)
{
	double x = square / (reach * reach);

	return x < 1 ? bessel(beta * sqrt(1 - x)) / bessel(beta) : 0;
}

/* acquire fills samples along spokes in turn, whose directions go round a sphere. All that
   they reach lies within the grid. */
static void acquire(int n, int spokes, sample *s)
{
	for (int k = 0; k < spokes; k++) {
		double rise = 1 - (2 * k + 1.0) / spokes, turn = 2.399963229728653 * k;
		double flat = sqrt(1 - rise * rise), x = flat * cos(turn), y = flat * sin(turn);
		for (int i = 0; i < n; i++, s++) {
			double r = (i + 0.5) / n * (n / 2.0 - 3), signal = 2 / (1 + r / 4);
			s->x = (float)(n / 2.0 + r * x);
			s->y = (float)(n / 2.0 + r * y);
			s->z = (float)(n / 2.0 + r * rise);
			s->real = (float)(signal * cos(r / 3 + k % 7));
			s->imaginary = (float)(signal * sin(r / 3 + k % 7));
		}
	}
}

static int block_of(int across, const sample *s)
{
	int x = (int)s->x / BLOCK, y = (int)s->y / BLOCK, z = (int)s->z / BLOCK;

	return (z * across + y) * across + x;
}

/* sort puts samples of a block together, by counting. */
static void sort(int n, int count, const sample *from, sample *to)
{
	int across = n / BLOCK + 1, blocks = across * across * across;
	int *start = space((size_t)blocks + 1, sizeof *start);

	for (int i = 0; i < count; i++)
		start[block_of(across, from + i) + 1]++;
	for (int b = 0; b < blocks; b++)
		start[b + 1] += start[b];
	for (int i = 0; i < count; i++)
		to[start[block_of(across, from + i)]++] = from[i];
	free(start);
}

static void spread(int n, const sample *s, cell *grid, float *density)
{
	int x0 = (int)ceil(s->x - reach), x1 = (int)floor(s->x + reach);
	int y0 = (int)ceil(s->y - reach), y1 = (int)floor(s->y + reach);
	int z0 = (int)ceil(s->z - reach), z1 = (int)floor(s->z + reach);
	float most = (float)(reach * reach), scale = TABLE / most;

	for (int z = z0; z <= z1; z++) {
		float dz = (z - s->z) * (z - s->z);
		for (int y = y0; y <= y1; y++) {
			float dyz = dz + (y - s->y) * (y - s->y);
			size_t row = ((size_t)z * n + y) * n;
			if (dyz >= most)
				continue;
			for (int x = x0; x <= x1; x++) {
				float square = dyz + (x - s->x) * (x - s->x);
				if (square < most) {
					float w = table[(int)(square * scale + 0.5f)];
					grid[row + x].real += w * s->real;
					grid[row + x].imaginary += w * s->imaginary;
					density[row + x] += w;
				}
			}
		}
	}
}

static void divide(size_t cells, cell *grid, const float *density)
{
	for (size_t i = 0; i < cells; i++)
		if (density[i] > 0) {
			grid[i].real /= density[i];
			grid[i].imaginary /= density[i];
		}
}

/* worse returns the larger, and what is not a number if one is. */
static double worse(double a, double b)
{
	return a >= b || a != a ? a : b;
}

/* gathered returns how far a cell is from what all samples give it, with the kernel itself. */
static double gathered(int n, int count, const sample *s, size_t at, cell found, float density)
{
	double x = at % n, y = at / n % n, z = (double)(at / n / n);
	double real = 0, imaginary = 0, sum = 0;

	for (int i = 0; i < count; i++) {
		double dx = x - s[i].x, dy = y - s[i].y, dz = z - s[i].z;
		double square = dx * dx + dy * dy + dz * dz;
		if (square < reach * reach) {
			double w = kernel(square);
			sum += w;
			real += w * s[i].real;
			imaginary += w * s[i].imaginary;
		}
	}
	if (!(sum > 0.01))
		return density > 0.02; /* hardly any */
	real = fabs(real / sum - found.real);
	return worse(worse(real, fabs(imaginary / sum - found.imaginary)), fabs(density / sum - 1));
}

/* whole returns what a sample gives to all cells, which is the integral of the kernel. */
static double whole(void)
{
	double sum = 0;

	for (int i = 0; i < 200; i++) {
		double r = (i + 0.5) * reach / 200;
		sum += 4 * pi * r * r * kernel(r * r) * reach / 200;
	}
	return sum;
}

/* unsorted returns whether blocks do not ascend, or samples are not the same. */
static int unsorted(int n, int count, const sample *before, const sample *after)
{
	double sum = 0;
	int across = n / BLOCK + 1, wrong = 0;

	for (int i = 0; i < count; i++) {
		sum += before[i].x * (before[i].real + 3) + before[i].y * before[i].z;
		sum -= after[i].x * (after[i].real + 3) + after[i].y * after[i].z;
		wrong += i > 0 && block_of(across, after + i - 1) > block_of(across, after + i);
	}
	return wrong > 0 || !(fabs(sum) < 1e-6 * count);
}

/* summed returns how far sums over the grid, as it was before it was divided, are from those
   over samples. */
static double summed(int n, int count, const sample *s, const cell *grid, const float *density)
{
	size_t cells = (size_t)n * n * n;
	double sums[3] = { 0 }, size = 0, unit = whole(), error = 0;

	for (size_t i = 0; i < cells; i++) {
		sums[0] += density[i] / unit;
		sums[1] += grid[i].real * density[i] / unit;
		sums[2] += grid[i].imaginary * density[i] / unit;
	}
	for (int i = 0; i < count; i++) {
		sums[0] -= 1;
		sums[1] -= s[i].real;
		sums[2] -= s[i].imaginary;
		size += hypot(s[i].real, s[i].imaginary);
	}
	error = worse(fabs(sums[0]) / count, fabs(sums[1]) / size);
	return worse(error, fabs(sums[2]) / size);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, spokes, count, wrong;
	double error = 0, sums;
	sample *acquired, *sorted;
	cell *grid;
	float *density;
	size_t cells;

	if (n < 12 || n > 512) {
		puts("usage: gridding N, from 12 to 512");
		return 2;
	}
	spokes = 6 * n;
	count = spokes * n;
	cells = (size_t)n * n * n;
	acquired = space(count, sizeof *acquired);
	sorted = space(count, sizeof *sorted);
	grid = space(cells, sizeof *grid);
	density = space(cells, sizeof *density);
	for (int i = 0; i <= TABLE; i++)
		table[i] = (float)kernel(i * reach * reach / TABLE);
	acquire(n, spokes, acquired);
	sort(n, count, acquired, sorted);
	for (int i = 0; i < count; i++)
		spread(n, sorted + i, grid, density);
	divide(cells, grid, density);

	/* Six cells with the kernel itself, of which the first is in the middle. */
	wrong = unsorted(n, count, acquired, sorted);
	for (size_t k = 0; k < 6; k++) {
		size_t z = n / 2 + k % 3, y = n / 2 - k / 2, x = n / 2 + k;
		size_t at = (z * n + y) * n + x;
		error = worse(error, gathered(n, count, acquired, at, grid[at], density[at]));
	}
	sums = summed(n, count, acquired, grid, density);
	printf("gridding: n %d, samples %d, error %.1e, of sums %.1e, %s\n", n, count, error, sums,
	       wrong ? "unsorted" : "sorted");
	return !wrong && error < 2e-3 && sums < 0.01 ? 0 : 1;
}
