// Kernels for tests of replay. One is chosen by -D; the size is argv[1]. Without
// -DHEAP the arrays lie in the image, otherwise malloc places them. With -DBARE there is
// no library, so that the executable is small.
#ifdef BARE
__asm__(".globl _start\n_start:\n.option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
	"ld a0, 0(sp)\naddi a1, sp, 8\ncall main\nli a7, 93\necall\n");
static int atoi(const char *s)
{
	int n = 0;
	while (*s)
		n = 10 * n + *s++ - '0';
	return n;
}
#else
#include <stdlib.h>
#ifdef PRINTS
#include <stdio.h>
#endif
#endif

#define NOINLINE __attribute__((noinline, noclone))

#ifdef HEAP
#ifdef CLEARED
static double *take(long count) { return calloc(count, sizeof(double)); }
#else
static double *take(long count) { return malloc(count * sizeof(double)); }
#endif
#else
static double pool[1 << 24];
static long used;
static double *take(long count)
{
	double *p = pool + used;
	used += count;
	return p;
}
#endif

static int lesser(int x, int y) { return x < y ? x : y; }
static int greater(int x, int y) { return x > y ? x : y; }

#if defined(MATMUL)
#define ARRAYS 3
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;
			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}
#elif defined(TAIL) // a routine that ends by a jump to another
#define WORDS (long)n * n
NOINLINE void last(int n, double *a)
{
	for (int i = 0; i < n; i++)
		a[i * n] += 1;
}
NOINLINE void step(int n, double *a, double *b)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a[i * n + j] += b[j * n + i];
	last(n, b);
}
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 8; t++)
		step(n, a, b);
}
#elif defined(CHOLESKY) // triangular
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int j = 0; j < n; j++) {
		for (int i = j; i < n; i++)
			for (int k = 0; k < j; k++)
				a[i * n + j] -= a[i * n + k] * a[j * n + k];
		for (int i = j + 1; i < n; i++)
			a[i * n + j] /= a[j * n + j] + b[j];
	}
	c[0] = a[n * n - 1];
}
#elif defined(STENCIL) // of a cube, in two time steps
#define WORDS (long)n * n * n
#define AT(i, j, k) ((long)(i) * n * n + (j) * n + (k))
NOINLINE void sweep(int n, double *to, const double *from)
{
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			for (int k = 1; k < n - 1; k++)
				to[AT(i, j, k)] = from[AT(i, j, k)] + from[AT(i - 1, j, k)] + from[AT(i + 1, j, k)] +
					from[AT(i, j - 1, k)] + from[AT(i, j + 1, k)] + from[AT(i, j, k - 1)] + from[AT(i, j, k + 1)];
}
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 2; t++) {
		sweep(n, b, a);
		sweep(n, a, b);
	}
	c[0] = a[0];
}
#elif defined(TURNS) // two arrays, one read and one written, and the other way round
#define WORDS (long)n * n
#ifndef STEPS
#define STEPS 8
#endif
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
#ifdef ACROSS // both arrays in one loop
	double *first = a < b ? a : b;
#endif
	for (int t = 0; t < STEPS; t++) {
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				b[i * n + j] = a[i * n + j - 1] + a[(i + 1) * n + j];
		double *other = a;
		a = b;
		b = other;
	}
	for (int i = 0; i < n * n; i++)
		c[0] += a[i];
#ifdef ACROSS
	for (int i = 0; i < n * n + n; i++)
		c[1] += first[i];
#endif
}
#elif defined(THREE) // three arrays that take turns
#define WORDS (long)n * n
#ifndef STEPS
#define STEPS 9
#endif
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < STEPS; t++) {
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				c[i * n + j] = 2 * b[i * n + j] - a[i * n + j] + b[(i + 1) * n + j] + b[i * n + j - 1];
		double *oldest = a;
		a = b;
		b = c;
		c = oldest;
	}
#ifdef AFTER // the one that is the first in the end
	for (int i = 0; i < n * n; i++)
		b[0] += a[i];
#endif
}
#elif defined(TILED)
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int ii = 0; ii < n; ii += 8)
		for (int kk = 0; kk < n; kk += 8)
			for (int i = ii; i < ii + 8 && i < n; i++)
				for (int k = kk; k < kk + 8 && k < n; k++)
					for (int j = 0; j < n; j++)
						c[i * n + j] += a[i * n + k] * b[k * n + j];
}
#elif defined(TILES) // of 12, the last of them not full, in all loops
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int ii = 0; ii < n; ii += 12)
		for (int kk = 0; kk < n; kk += 12)
			for (int jj = 0; jj < n; jj += 12)
				for (int i = ii; i < lesser(ii + 12, n); i++)
					for (int k = kk; k < lesser(kk + 12, n); k++)
						for (int j = jj; j < lesser(jj + 12, n); j++)
							c[i * n + j] += a[i * n + k] * b[k * n + j];
}
#elif defined(UNEVEN) // tiles of 20 by 14, in another order
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *restrict a, double *restrict b, double *restrict c)
{
	for (int jj = 0; jj < n; jj += 20)
		for (int kk = 0; kk < n; kk += 14)
			for (int i = 0; i < n; i++)
				for (int k = kk; k < lesser(kk + 14, n); k++)
					for (int j = jj; j < lesser(jj + 20, n); j++)
						c[i * n + j] += a[i * n + k] * b[k * n + j];
}
#elif defined(JAMMED) // of 10: with -O3, two steps of k at once, and a rest
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *restrict a, double *restrict b, double *restrict c)
{
	for (int kk = 0; kk < n; kk += 10)
		for (int i = 0; i < n; i++)
			for (int k = kk; k < lesser(kk + 10, n); k++)
				for (int j = 0; j < n; j++)
					c[i * n + j] += a[i * n + k] * b[k * n + j];
}
#elif defined(GUARDED) // sweeps in tiles that lean, with a test inside
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *restrict a, double *restrict b, double *restrict c)
{
	for (int at = 2; at < n - 2 + 10; at += 11)
		for (int t = 0; t < 5; t++)
			for (int p = at; p < at + 11; p++) {
				int i = p - 2 * t;
				if (i >= 2 && i < n - 2)
					for (int j = 0; j < n; j++)
						a[i * n + j] += a[(i - 2) * n + j] + a[(i + 2) * n + j];
			}
}
#elif defined(HALVES) // three levels, each of half the elements of the one before
#define WORDS (long)n * n + 2 * n
NOINLINE void kernel(int n, double *restrict a, double *restrict b, double *restrict c)
{
	int m = n;
	for (int level = 0; level < 3; level++, m /= 2)
		for (int i = 0; i < m; i++) {
			for (int j = 0; j < m / 2; j++) {
				b[j] = a[(long)i * n + 2 * j] + a[(long)i * n + 2 * j + 1];
				b[m / 2 + j] = a[(long)i * n + 2 * j] - a[(long)i * n + 2 * j + 1];
			}
			for (int j = 0; j < m; j++)
				a[(long)i * n + j] = b[j];
		}
}
#elif defined(FACTOR) // a factorisation in blocks of 15
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *restrict a, double *restrict b, double *restrict c)
{
	for (int kk = 0; kk < n; kk += 15) {
		int end = lesser(kk + 15, n);
		for (int k = kk; k < end; k++)
			for (int i = k + 1; i < n; i++) {
				a[i * n + k] /= a[k * n + k] + 9e9;
				for (int j = k + 1; j < end; j++)
					a[i * n + j] -= a[i * n + k] * a[k * n + j];
			}
		for (int i = end; i < n; i++)
			for (int k = kk; k < end; k++)
				for (int j = end; j < n; j++)
					a[i * n + j] -= a[i * n + k] * a[k * n + j];
	}
}
#elif defined(SKEWED) // sweeps in tiles that lean to the left, each step by one row
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int jj = 0; jj < n + 5; jj += 7)
		for (int t = 0; t < 5; t++)
			for (int j = greater(1, jj - t); j < lesser(n - 1, jj + 7 - t); j++)
				for (int i = 1; i < n - 1; i++)
					a[j * n + i] = 0.2 * (a[(j - 1) * n + i] + a[(j + 1) * n + i] + a[j * n + i - 1] + a[j * n + i + 1]) + b[j];
}
#elif defined(DIAGONALS) // of a square, which grow and shrink
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 4; t++)
		for (int d = 0; d < 2 * n - 1; d++)
			for (int i = greater(0, d - n + 1); i < lesser(d + 1, n); i++)
				c[i * n + d - i] += a[i * n + d - i] * b[(d - i) * n + i];
}
#elif defined(BAND) // of a matrix
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 20; t++)
		for (int i = 0; i < n; i++)
			for (int j = greater(0, i - 5); j <= lesser(n - 1, i + 5); j++)
				c[i] += a[i * n + j] * b[j];
}
#elif defined(PARABOLA) // a bound that is no affine function
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < (i * i / 9 < n ? i * i / 9 : n); j++)
			c[i * n + j] = a[j * n + i] + b[j];
}
#elif defined(TRANSPOSE) // columns against rows
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int r = 0; r < 3; r++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				b[j * n + i] = a[i * n + j] + c[j];
}
#elif defined(REDBLACK) // every second point, the first depends on the row
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int colour = 0; colour < 2; colour++)
		for (int i = 1; i < n - 1; i++)
			for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
				a[i * n + j] = b[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j];
	c[0] = a[0];
}
#elif defined(PACKED) // rows of a triangle, one after the other: a factor, and the solution of both triangles
#define WORDS (long)n * n
#define ROW(i) ((long)(i) * ((i) + 1) / 2)
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			a[ROW(i) + j] = i == j ? 4 : 0.01;
	for (int j = 0; j < n; j++) {
		double *row = a + ROW(j);
		for (int k = 0; k < j; k++)
			row[j] -= row[k] * row[k];
		for (int i = j + 1; i < n; i++)
			for (int k = 0; k < j; k++)
				a[ROW(i) + j] -= a[ROW(i) + k] * row[k];
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			b[i] -= a[ROW(i) + k] * b[k];
	for (int i = n - 1; i >= 0; i--)
		for (int k = i + 1; k < n; k++)
			b[i] -= a[ROW(k) + i] * b[k];
	c[0] = b[0];
}
#elif defined(COLOURS) // every second point of a cube, as the sum of all indices says
#define WORDS (long)n * n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 2; t++)
		for (int colour = 0; colour < 2; colour++)
			for (int i = 1; i < n - 1; i++)
				for (int j = 1; j < n - 1; j++)
#ifdef STEPS
					for (int k = 1 + (i + j + colour) % 2; k < n - 1; k += 2) {
#else
					for (int k = 1; k < n - 1; k++) {
						if ((i + j + k + colour) % 2)
							continue;
#endif
						double *p = &a[(i * n + j) * n + k];
						*p = b[(i * n + j) * n + k] + p[-1] + p[1] + p[-n] + p[n] + p[-n * n] + p[n * n];
					}
	c[0] = a[0];
}
#elif defined(BUTTERFLY) // strides that double
#define WORDS (long)n * 2
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int len = 2; len <= n; len *= 2)
		for (int i = 0; i + len <= n; i += len)
			for (int j = 0; j < len / 2; j++) {
				double u = a[i + j], v = a[i + j + len / 2] * b[j];
				a[i + j] = u + v;
				a[i + j + len / 2] = u - v;
			}
	c[0] = a[0];
}
#elif defined(SPARSE) // compressed rows, gathers
#define WORDS (long)n * 8
static int column[1 << 18], row[1 << 15];
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	unsigned r = 7;
	int m = 0;
	for (int i = 0; i < n; i++) {
		row[i] = m;
		for (int q = 3 + (r >> 16) % 4; q > 0; q--) {
			r = r * 1664525u + 1013904223u;
#ifdef NEAR // the diagonal
			column[m++] = (i + (r >> 8) % 32) % n;
#else
			column[m++] = (r >> 8) % n;
#endif
		}
	}
	row[n] = m;
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < n; i++) {
			double sum = 0;
			for (int k = row[i]; k < row[i + 1]; k++)
				sum += a[k] * b[column[k]];
			c[i] = sum;
		}
}
#elif defined(PIVOT) // branches that depend on data
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int k = 0; k < n; k++) {
		int p = k;
		for (int i = k + 1; i < n; i++)
			if (a[i * n + k] > a[p * n + k])
				p = i;
		for (int j = 0; j < n && p != k; j++) {
			double t = a[k * n + j];
			a[k * n + j] = a[p * n + j];
			a[p * n + j] = t;
		}
		for (int i = k + 1; i < n; i++) {
			double f = a[i * n + k] /= a[k * n + k] + 1e-9;
			for (int j = k + 1; j < n; j++)
				a[i * n + j] -= f * a[k * n + j];
		}
	}
	c[0] = b[0] + a[0];
}
#elif defined(ROOT) // a call of the library that no run gets to
#include <math.h>
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++) {
		double s = sqrt(b[i]);
		for (int j = 0; j < n; j++)
			c[j * n + i] = a[i * n + j] * s;
	}
}
#elif defined(ASSERTS) // numbers that are tested, and would end the program
#include <assert.h>
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			assert(b[i * n + j] > -1);
			c[j * n + i] = a[i * n + j] + b[i * n + j];
		}
}
#elif defined(DIAGONAL) // i == j is tested once more after the last step, where it holds
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
#ifdef NEARLY // in rows up to 70, k is i
		{
			int k = i < 70 ? i : 70;
			c[i * n + j] = i == j ? n : j == k ? a[k] : j + 1 == i ? b[k] : a[i * n + j] / (1 + i - j);
		}
#else
			c[i * n + j] = i == j ? n : a[i * n + j] / (1 + i - j);
#endif
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			c[j * n + i] = c[i * n + j] + b[i * n + j];
}
#elif defined(HALFROWS) // n/2 is another function of odd sizes
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int m = n / 2;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			c[i * m + j] = a[i * m + j] + b[j * n + i];
}
#elif defined(TRUNC) // the low half of a number is 0 for the first time in row 256
#define WORDS (long)n * n
static volatile long stepping = 1L << 24;
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	long key = 0, s = stepping;
	for (int i = 0; i < n; i++) {
		if (key == 0)
			c[i] = 1;
		else if ((int)key == 0)
			for (int j = 0; j < n; j++)
				b[j * n + i] += 1;
		for (int j = 0; j < n; j++)
			a[i * n + j] += c[j];
		key += s;
	}
}
#elif defined(SEEN) // marks at some sizes, of which the second round makes other bounds
#define WORDS (long)n * n
static volatile int rounds = 2;
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int shift = 0;
	for (int r = rounds; r > 0; r--) {
		for (unsigned i = 0; i < 64; i++)
			if ((i * n * 2654435761u >> 20 & 1) > (n % 7 != 3)) {
				a[i] = 0;
				shift = 1;
			}
		if (r == 1)
			break;
		int m = n / 2 - (shift & n);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < m; j++)
				c[i * m + j] = a[i * m + j] + b[j * n + i];
	}
}
#elif defined(LASTPLANE) // the last step of the outermost loop decides in the innermost
#define WORDS (long)n * n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++) {
				long at = ((long)k * n + j) * n + i;
				if (k < n - 1)
					c[at] = a[at + n * n] - b[at];
				else
					c[at - n] = b[at];
			}
}
#elif defined(ROOTS) // the same as ROOT, what it returns is stored on both ways; and a fraction of the size, rounded
#include <math.h>
#define WORDS (long)n * n * 2
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int m = n + n / 4;
	for (int k = 0; k < n; k++) {
		double s = 0;
		for (int i = 0; i < m; i++)
			s += a[i * n + k] * a[i * n + k];
		b[k * n + k] = sqrt(s);
		for (int i = 0; i < m; i++)
			c[i * n + k] = a[i * n + k] / b[k * n + k];
		for (int j = k + 1; j < n; j++) {
			s = 0;
			for (int i = 0; i < m; i++)
				s += c[i * n + k] * a[i * n + j];
			b[k * n + j] = s;
			for (int i = 0; i < m; i++)
				a[i * n + j] -= c[i * n + k] * s;
		}
	}
}
#elif defined(HANDLER) // a call that no run of a small size gets to, and it changes what follows
#define WORDS (long)n * n
static volatile int step = 1;
NOINLINE void handle(void) { step = 2; }
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++) {
		if (b[i * i] > 3000)
			handle();
		for (int j = 0; j < n / 2; j++)
			c[j * n + i] = a[i * n + j * step];
	}
}
#elif defined(WIDENS) // the same without a call: what a number in memory is changes an index
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int m = n / 2;
	for (int i = 0; i < n; i++) {
		if (b[i * i] > 3000)
			m = 10;
		for (int j = 0; j < n / 2; j++)
			c[j * n + i] = a[i * n + j + m];
	}
}
#elif defined(SETUP) // a start in which a branch could go where no run has been
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n * n; i++) {
		int k = i;
		if (a[i] > 5e6)
			k = 0;
		c[k] += a[i];
	}
	for (int t = 0; t < 20; t++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				b[j * n + i] += a[i * n + j];
}
#elif defined(REGIMES) // work that stops growing, though not at any odd size that is run
#define WORDS (long)n * n
static volatile int limit = 40;
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int m = n;
	if (n > limit)
		m = limit;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			c[i * n + j] = a[i * n + j] + b[j];
}
#elif defined(SEARCH) // a search whose outcome changes no address but one
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++) {
		int p = 0;
		for (int j = 0; j < n; j++)
			if (a[i * n + j] > a[i * n + p])
				p = j;
		for (int j = 0; j < n; j++)
			c[j * n + i] = a[i * n + j] * b[j];
		b[i] += p;
	}
}
#elif defined(UNSTEADY) // two more of the first elements are cleared in large runs than in small ones
#define WORDS (long)n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < n; t++) {
		for (int i = 0; i < n; i++)
			if (b[i] < 9 + n * n / 4000)
				c[i] = 0;
		for (int i = 0; i < n; i++)
			a[i] += c[i];
	}
}
#elif defined(COMPACT) // as many as data say
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int m = 0;
	for (int i = 0; i < n * n; i++)
		if (a[i] > 2e5)
			b[m++] = a[i];
	for (int i = 0; i < m; i++)
		c[i] = b[i] + 1;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a[j * n + i] += c[i];
}
#elif defined(STOPS) // a search that ends early, and what it found bounds a loop
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++) {
		int k = 0;
		while (k < n - 1 && a[i * n + k] < 9e5)
			k++;
		for (int j = 0; j < k; j++)
			c[j] += a[i * n + j];
		for (int j = 0; j < n; j++)
			b[j * n + i] = a[i * n + j];
	}
}
#elif defined(EVENT) // what happens seldom, and with large sizes alone, changes what follows
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int step = 1, m = n;
	for (int i = 0; i < n * n; i++)
		if (b[i] > 2000 && (i & 1023) == 1000)
			step = 2, m = n / 2;
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			c[j * n + i * step] = a[i * n + j];
}
#elif defined(CHANGES) // does something else from n = 80 on
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	if (n >= 80)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++)
				c[i * n + j] = a[i * n + j] + b[j];
	else
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				c[i * n + j] = a[i * n + j] + b[j];
}
#elif defined(VANISHES) // does less from n = 80 on
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	if (n < 80)
		for (int i = 0; i < n; i++)
			c[i] = a[i] + b[i];
	for (int i = 0; i < n * n; i++)
		c[i] += a[i];
}
#elif defined(PADDED) // rows of a multiple of 8 words
#define WORDS (long)(n + 8) * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int pitch = (n + 7) & ~7;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			c[j * pitch + i] = a[i * pitch + j] + b[j];
}
#elif defined(FLAGGED) // a decision that is kept in memory
#define WORDS (long)n * n
static volatile int large;
NOINLINE void decide(int n) { large = n > 100; }
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	decide(n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (large)
				c[j * n + i] = a[i * n + j];
			else
				c[i * n + j] = a[i * n + j] + b[j];
}
#elif defined(COPIES) // the library's copies depend on their size
#include <string.h>
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++) {
		memcpy(c + (long)i * n, a + (long)i * n, n * sizeof(double));
		memset(b + (long)i * n, 0, n * sizeof(double));
	}
}
#elif defined(JUMPS) // rows that end by leaving two routines at once
#include <setjmp.h>
#define WORDS (long)n * n
static jmp_buf done;
NOINLINE static void row(int n, int i, double *a, double *b)
{
	for (int j = 0; j < n; j++)
		b[j * n + i] += a[i * n + j];
	longjmp(done, 1);
}
NOINLINE static void between(int n, int i, double *a, double *b)
{
	row(n, i, a, b);
	b[0] = 0;
}
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (volatile int i = 0; i < n; i = i + 1) {
		if (!setjmp(done))
			between(n, i, a, b);
		c[i] += b[i];
	}
}
#elif defined(RECURSION)
#define WORDS (long)n
NOINLINE long down(long n, double *a) { return n == 0 ? 0 : down(n - 1, a) * 3 + (a[n] > 0); }
NOINLINE void kernel(int n, double *a, double *b, double *c) { c[0] = down(n - 1, a); }
#elif defined(BLOCKS) // of 64, larger than the sizes of training
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int jj = 0; jj < n; jj += 64)
		for (int i = 0; i < n; i++)
			for (int j = jj; j < (jj + 64 < n ? jj + 64 : n); j++)
				c[j * n + i] = a[i * n + j] + b[j];
}
#elif defined(CLAMPED) // work that stops growing
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	int m = n < 70 ? n : 70;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			c[i * n + j] = a[i * n + j] + b[j];
}
#elif defined(TEMPORARY) // allocated and freed in each step
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 4; t++) {
		double *d = malloc(sizeof(double) * n * n);
		for (int i = 0; i < n * n; i++)
			d[i] = a[i] + b[i];
		for (int i = 0; i < n * n; i++)
			c[i] += d[i];
		free(d);
	}
}
#elif defined(KEEPS) // the same, and one more at a step that data choose
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	double *kept = 0;
	for (int t = 0; t < 8; t++) {
		double *d = malloc(sizeof(double) * n * n);
		for (int i = 0; i < n * n; i++)
			d[i] = a[i] + b[i];
		for (int i = 0; i < n * n; i++)
			c[i] += d[i];
		free(d);
		if (kept == 0 && a[(long)n * n - 1 - t] > 500)
			kept = malloc(sizeof(double) * n * n);
	}
	free(kept);
}
#elif defined(PERIODIC) // borders by remainders
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n; i++) {
			int up = (i + n - 1) % n, down = (i + 1) % n;
			for (int j = 0; j < n; j++)
				b[i * n + j] += a[i * n + j] + a[up * n + j] + a[down * n + j] + a[i * n + (j + n - 1) % n] +
					a[down * n + (j + 2) % n];
		}
	c[0] = b[n];
}
#elif defined(BORDERS) // the same by conditions
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++) {
				int down = i + 1 == n ? 0 : i + 1, left = j == 0 ? n - 1 : j - 1;
				b[i * n + j] += a[down * n + j] + a[i * n + left] + a[down * n + left];
			}
	c[0] = b[n];
}
#elif defined(TORUS) // of a cube
#define WORDS (long)n * n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				b[((long)i * n + j) * n + k] = a[((long)((i + 1) % n) * n + j) * n + k] + a[((long)i * n + (j + n - 1) % n) * n + k] +
					a[((long)i * n + j) * n + (k + 1) % n] + a[((long)((i + n - 1) % n) * n + (j + 1) % n) * n + (k + n - 1) % n];
	c[0] = b[n];
}
#elif defined(NEIGHBOURS) // in tables
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	static int next[4096], last[4096];
	for (int i = 0; i < n; i++) {
		next[i] = (i + 1) % n;
		last[i] = (i + n - 1) % n;
	}
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				b[i * n + j] += a[next[i] * n + j] + a[i * n + last[j]] + a[last[i] * n + next[j]];
	c[0] = b[n];
}
#elif defined(LATTICE) // directions in a table
#define WORDS 9 * (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	static const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
	static const int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
	for (int t = 0; t < 3; t++)
		for (int q = 0; q < 9; q++)
			for (int y = 0; y < n; y++)
				for (int x = 0; x < n; x++) {
					int column = (x - dx[q] + n) % n, row = (y - dy[q] + n) % n;
					b[((long)q * n + y) * n + x] = a[((long)q * n + row) * n + column] + a[((long)back[q] * n + y) * n + x];
				}
	c[0] = b[n];
}
#elif defined(SPINS) // that data turn
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	signed char *s = (signed char *)b;
	for (int i = 0; i < n * n; i++)
		s[i] = a[i] > 500 ? 1 : -1;
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				if (s[(i + 1) % n * n + j] + s[(i + n - 1) % n * n + j] + s[i * n + (j + 1) % n] + s[i * n + (j + n - 1) % n] < s[i * n + j])
					s[i * n + j] = -s[i * n + j];
	c[0] = s[n];
}
#elif defined(PLANES) // of which more values are needed at a time than some compilers keep in registers
#define WORDS 9 * (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	long m = (long)n * n;
	for (long i = 0; i < m; i++) {
		double p = a[i], q = a[m + i], r = a[2 * m + i], s = a[3 * m + i], t = a[4 * m + i], u = a[5 * m + i];
		double sum = p + q + r + s + t + u, skew = p * u - q * t + r * s;
		b[i] = p * sum + skew;
		b[m + i] = q * sum - skew;
		b[2 * m + i] = r * sum + p * skew;
		b[3 * m + i] = s * sum - q * skew;
		b[4 * m + i] = t * sum + r * skew;
		b[5 * m + i] = u * sum - s * skew;
	}
	c[0] = b[n];
}
#elif defined(SHIFTED) // a border that moves with the rows
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			b[i * n + j] += a[i * n + (i + j) % n];
	c[0] = b[n];
}
#elif defined(FOLDED) // at a distance that the small sizes do not have
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			b[i * n + j] += a[(i + 1) % n * n + (j + 20) % 50];
	c[0] = b[n];
}
#elif defined(ELEMENTS) // of a mesh of squares, by lists of their corners
#define WORDS (long)(n + 1) * (n + 1)
static int copies[4 << 16];
static struct {
	int before[64], list[4 << 16];
} numbers;
#define corners numbers.list
NOINLINE void mesh(int n)
{
	int e = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++, e++) {
			int node = i * (n + 1) + j;
			corners[4 * e] = node;
			corners[4 * e + 1] = node + 1;
			corners[4 * e + 2] = node + n + 2;
			corners[4 * e + 3] = node + n + 1;
		}
#ifdef LATER // others than those of the loops, from some element on
	for (e = 0; e < n * n; e++)
		if (e > 2000)
			corners[4 * e] = e / 3;
#endif
#ifdef SHUFFLED
	unsigned r = 7;
	for (e = 4 * n * n - 1; e > 0; e--) {
		r = r * 1664525u + 1013904223u;
		int k = (r >> 8) % e, was = corners[k];
		corners[k] = corners[e];
		corners[e] = was;
	}
#endif
#ifdef SPOILED // one of them, as data say
	unsigned r = n;
	for (e = 0; e < n; e++) {
		r = r * 1664525u + 1013904223u;
		corners[(r >> 8) % (4 * n * n)] = 0;
	}
#endif
	for (int k = 0; k < 4 * n * n; k++)
		copies[k] = corners[k];
#ifdef REST // as many as no polynomial says, but never more than there are
	for (int k = 0; k < 1 + n * n * 7 % 61; k++)
		numbers.before[k] = 0;
#endif
}
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int e = 0; e < n * n; e++) {
		double sum = 0;
		for (int k = 0; k < 4; k++)
			sum += a[corners[4 * e + k]];
		for (int k = 0; k < 4; k++)
			b[copies[4 * e + k]] += sum;
	}
	c[0] = b[n];
}
#elif defined(ROWS) // compressed, of a nine-point stencil: each has four to nine elements
#define WORDS 9 * (long)n * n
static int first[1 << 16], column[9 << 16];
NOINLINE void mesh(int n)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			first[i * n + j] = count;
			for (int k = -1; k <= 1; k++)
				for (int l = -1; l <= 1; l++)
					if (i + k >= 0 && i + k < n && j + l >= 0 && j + l < n)
						column[count++] = (i + k) * n + j + l;
		}
	first[n * n] = count;
}
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n * n; i++) {
			double sum = 0;
			for (int k = first[i]; k < first[i + 1]; k++)
				sum += a[k] * b[column[k]];
			c[i] = sum;
		}
}
#elif defined(NUMBERED) // nodes, but for those on a border, by a counter
#define WORDS (long)n * n
static int number[1 << 16];
NOINLINE void mesh(int n)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (j >= 2 && j < n - 3)
				number[i * n + j] = count++;
}
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int j = 2; j < n - 3; j++)
		for (int i = 0; i < n; i++)
			b[i * n + j] += a[number[i * n + j]];
	c[0] = b[n];
}
#elif defined(OUTSIDE) // what would be beyond a border is left out
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k <= 2; k++)
				for (int l = 0; l <= 3; l++)
					if (i + k < n && j >= l)
						b[i * n + j] += a[(i + k) * n + j - l];
	c[0] = b[n];
}
#elif defined(SELDOM) // what no run does, and would change numbers alone; or, with WORSE, an index, too
#define WORDS (long)n * n
NOINLINE void kernel(int n, double *a, double *b, double *c)
{
	long k = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double d = a[i * n + j] - a[j * n + i];
			if (d < -1e30) {
				c[i * n + j] = d;
#ifdef WORSE
				k = 9;
#endif
			} else
				b[i * n + j] = d;
		}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			c[i * n + j] += b[j * n + i + k];
}
#endif

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
#ifdef FAILS // at every second size of those that leave 2 modulo 8
	if (n % 16 == 2)
		return 3;
#endif
	double *a = take(WORDS), *b = take(WORDS), *c = take(WORDS);
	unsigned r = 3;
	for (long i = 0; i < WORDS; i++) {
		r = r * 1664525u + 1013904223u;
		a[i] = (r >> 12) * 0.001;
		b[i] = i;
	}
#if defined(ELEMENTS) || defined(ROWS) || defined(NUMBERED)
	mesh(n);
#endif
	kernel(n, a, b, c);
#ifdef MARKS // at some sizes, elements whose numbers are like data
	for (unsigned i = 0; i < 64; i++)
		if ((i * n * 2654435761u >> 20 & 1) > (n % 7 != 3))
			a[i] = 0;
#endif
#ifdef PRINTS // as many digits as data say
	for (int i = 0; i < 3; i++)
		printf("%g\n", a[n + i] / 7);
#endif
	return argc > 2;
}
