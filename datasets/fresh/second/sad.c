/* Motion estimation for a video coder: the sums of absolute differences of all 4 x 4 blocks
   of a picture and of a reference picture, at all displacements of a window, from which
   those of 8 x 8 and 16 x 16 blocks are added up, and the best displacement is chosen. The
   picture is n macroblocks of 16 x 16 wide, the argument, and four high; all is on the heap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIGH = 4, REACH = 4, WIDE = 2 * REACH + 1, POSITIONS = WIDE * WIDE, BORDER = 8 };

typedef struct {
	int width, height, stride;
	uint8_t *pixels; /* with a border of BORDER on all sides */
	uint8_t *at;     /* the first pixel within the border */
} picture;

/* What is kept of a macroblock at a displacement. */
typedef struct {
	uint16_t small[16], middle[4], whole;
} sums;

typedef struct {
	int8_t dx, dy;
	uint16_t sad;
} motion;

static uint32_t seed = 7;

static uint32_t draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 16;
}

static void *space(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p) {
		puts("sad: out of memory");
		exit(2);
	}
	return p;
}

static picture make(int width, int height)
{
	picture p = { width, height, width + 2 * BORDER, NULL, NULL };

	p.pixels = space((size_t)p.stride * (height + 2 * BORDER));
	p.at = p.pixels + (size_t)BORDER * p.stride + BORDER;
	return p;
}

static int block(const uint8_t *a, int as, const uint8_t *b, int bs)
{
	int sum = 0;

	for (int y = 0; y < 4; y++, a += as, b += bs)
		for (int x = 0; x < 4; x++)
			sum += abs(a[x] - b[x]);
	return sum;
}

/* small_sums fills in the 4 x 4 blocks of one macroblock, at all displacements. */
static void small_sums(const picture *now, const picture *past, int mx, int my, sums *s)
{
	const uint8_t *a = now->at + (size_t)my * 16 * now->stride + mx * 16;
	const uint8_t *b = past->at + (size_t)my * 16 * past->stride + mx * 16;

	for (int dy = -REACH; dy <= REACH; dy++)
		for (int dx = -REACH; dx <= REACH; dx++, s++)
			for (int k = 0; k < 16; k++) {
				int y = k / 4 * 4, x = k % 4 * 4;
				s->small[k] = block(a + y * now->stride + x, now->stride,
				                    b + (y + dy) * past->stride + x + dx,
				                    past->stride);
			}
}

static void large_sums(sums *all, size_t count)
{
	for (sums *s = all; s < all + count; s++) {
		s->whole = 0;
		for (int q = 0; q < 4; q++) {
			int k = q / 2 * 8 + q % 2 * 2;
			s->middle[q] = s->small[k] + s->small[k + 1] + s->small[k + 4] +
			               s->small[k + 5];
			s->whole += s->middle[q];
		}
	}
}

static motion best(const sums *s)
{
	motion m = { 0, 0, UINT16_MAX };

	for (int p = 0; p < POSITIONS; p++)
		if (s[p].whole < m.sad) {
			m.dx = p % WIDE - REACH;
			m.dy = p / WIDE - REACH;
			m.sad = s[p].whole;
		}
	return m;
}

/* moved makes a picture whose macroblocks are those of past at displacements that it
   draws, with some pixels changed by one; truth says where from, and how many. */
static void moved(picture *now, const picture *past, int n, motion *truth)
{
	for (int m = 0; m < n * HIGH; m++) {
		int x0 = m % n * 16, y0 = m / n * 16;
		motion *t = &truth[m];
		t->dx = (int)(draw() % WIDE) - REACH;
		t->dy = (int)(draw() % WIDE) - REACH;
		t->sad = 0;
		for (int y = y0; y < y0 + 16; y++)
			for (int x = x0; x < x0 + 16; x++) {
				int v = past->at[(y + t->dy) * past->stride + x + t->dx];
				int change = draw() % 4 == 0;
				now->at[(size_t)y * now->stride + x] = v + (v < 255 ? change : -change);
				t->sad += change;
			}
	}
}

/* direct sums over a macroblock pixel by pixel, at one displacement; columns first. */
static int direct(const picture *now, const picture *past, int x0, int y0, int dx, int dy)
{
	int sum = 0;

	for (int x = x0; x < x0 + 16; x++)
		for (int y = y0; y < y0 + 16; y++) {
			int a = now->at[(size_t)y * now->stride + x];
			int b = past->at[(y + dy) * past->stride + x + dx];
			sum += a > b ? a - b : b - a;
		}
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0;
	size_t blocks = (size_t)n * HIGH, total = 0;
	picture past, now;
	motion *truth;
	sums *all;

	if (n < 1 || n > 4096) {
		puts("usage: sad N");
		return 2;
	}
	past = make(n * 16, HIGH * 16), now = make(n * 16, HIGH * 16);
	truth = space(blocks * sizeof *truth);
	all = space(blocks * POSITIONS * sizeof *all);
	for (size_t i = 0; i < (size_t)past.stride * (past.height + 2 * BORDER); i++)
		past.pixels[i] = draw();
	moved(&now, &past, n, truth);

	for (size_t m = 0; m < blocks; m++)
		small_sums(&now, &past, m % n, m / n, all + m * POSITIONS);
	large_sums(all, blocks * POSITIONS);
	for (size_t m = 0; m < blocks; m++) {
		const sums *s = all + m * POSITIONS;
		motion found = best(s);
		int p = draw() % POSITIONS, quarters = 0;
		wrong += found.dx != truth[m].dx || found.dy != truth[m].dy ||
		         found.sad != truth[m].sad;
		for (int q = 0; q < 4; q++)
			quarters += s[p].middle[q];
		wrong += quarters != direct(&now, &past, m % n * 16, m / n * 16,
		                            p % WIDE - REACH, p / WIDE - REACH);
		/* The upper left quarter from pixels of the true displacement is at most
		   64 pixels changed. */
		p = (truth[m].dy + REACH) * WIDE + truth[m].dx + REACH;
		for (int q = 0; q < 4; q++)
			wrong += s[p].middle[q] > 64;
		total += found.sad;
	}
	printf("sad: %d x %d macroblocks, differences left %zu, wrong %d\n", n, HIGH, total,
	       wrong);
	return wrong ? 1 : 0;
}
