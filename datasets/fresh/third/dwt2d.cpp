// Wavelet transform of a colour picture of n x n pixels, the argument, there and back: the
// reversible colours and the reversible 5/3 wavelet of JPEG 2000, by lifting, on three levels.
// Pixels are three bytes; each component is a vector of integers by rows, with one more
// of the same size to work in.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int levels = 3;

struct Pixel {
	uint8_t red, green, blue;
};

class Plane {
public:
	explicit Plane(int n) : n_(n), a_(static_cast<size_t>(n) * n) {}
	int *row(int i) { return &a_[static_cast<size_t>(i) * n_]; }
	int at(int i, int j) const { return a_[static_cast<size_t>(i) * n_ + j]; }
	int size() const { return n_; }

private:
	int n_;
	std::vector<int> a_;
};

// mirrored returns an index within 0 to m - 1, of one that may be one without.
static int mirrored(int i, int m)
{
	return i < 0 ? std::min(-i, m - 1) : i >= m ? std::max(2 * m - 2 - i, 0) : i;
}

// split_rows takes columns of the first m x m apart, a row at a time: low ones first in the
// result, then high ones.
static void split_rows(Plane &from, Plane &to, int m)
{
	int half = (m + 1) / 2;
	for (int i = 0; 2 * i + 1 < m; i++) {
		const int *up = from.row(2 * i), *here = from.row(2 * i + 1);
		const int *down = from.row(mirrored(2 * i + 2, m));
		int *high = to.row(half + i);
		for (int j = 0; j < m; j++)
			high[j] = here[j] - ((up[j] + down[j]) >> 1);
	}
	for (int i = 0; i < half; i++) {
		const int *here = from.row(2 * i);
		const int *up = to.row(half + std::max(i - 1, 0));
		const int *down = to.row(half + std::min(i, m / 2 - 1));
		int *low = to.row(i);
		for (int j = 0; j < m; j++)
			low[j] = here[j] + ((up[j] + down[j] + 2) >> 2);
	}
}

// split_columns does so with one row.
static void split_columns(const int *from, int *to, int m)
{
	int half = (m + 1) / 2;
	for (int j = 0; 2 * j + 1 < m; j++)
		to[half + j] = from[2 * j + 1] - ((from[2 * j] + from[mirrored(2 * j + 2, m)]) >> 1);
	for (int j = 0; j < half; j++)
		to[j] = from[2 * j] +
		        ((to[half + std::max(j - 1, 0)] + to[half + std::min(j, m / 2 - 1)] + 2) >> 2);
}

static void forward(Plane &plane, Plane &work)
{
	int m = plane.size();
	for (int level = 0; level < levels && m > 1; level++, m = (m + 1) / 2) {
		split_rows(plane, work, m);
		for (int i = 0; i < m; i++)
			split_columns(work.row(i), plane.row(i), m);
	}
}

static void join_rows(Plane &from, Plane &to, int m)
{
	int half = (m + 1) / 2;
	for (int i = 0; i < half; i++) {
		const int *low = from.row(i);
		const int *up = from.row(half + std::max(i - 1, 0));
		const int *down = from.row(half + std::min(i, m / 2 - 1));
		int *even = to.row(2 * i);
		for (int j = 0; j < m; j++)
			even[j] = low[j] - ((up[j] + down[j] + 2) >> 2);
	}
	for (int i = 0; 2 * i + 1 < m; i++) {
		const int *up = to.row(2 * i), *down = to.row(mirrored(2 * i + 2, m));
		const int *high = from.row(half + i);
		int *odd = to.row(2 * i + 1);
		for (int j = 0; j < m; j++)
			odd[j] = high[j] + ((up[j] + down[j]) >> 1);
	}
}

static void join_columns(const int *from, int *to, int m)
{
	int half = (m + 1) / 2;
	for (int j = 0; j < half; j++)
		to[2 * j] = from[j] - ((from[half + std::max(j - 1, 0)] +
		                        from[half + std::min(j, m / 2 - 1)] + 2) >> 2);
	for (int j = 0; 2 * j + 1 < m; j++)
		to[2 * j + 1] = from[half + j] + ((to[2 * j] + to[mirrored(2 * j + 2, m)]) >> 1);
}

static void backward(Plane &plane, Plane &work)
{
	int sizes[levels], count = 0;
	for (int m = plane.size(); count < levels && m > 1; m = (m + 1) / 2)
		sizes[count++] = m;
	while (count > 0) {
		int m = sizes[--count];
		for (int i = 0; i < m; i++)
			join_columns(plane.row(i), work.row(i), m);
		join_rows(work, plane, m);
	}
}

static uint8_t noise(unsigned i, unsigned j, int step)
{
	unsigned smooth = i * i / 8 + j * 3 + (i * j >> 4);
	return static_cast<uint8_t>((smooth + (i * 40503u ^ j * 9973u) % 16) * step);
}

static Pixel made(int i, int j)
{
	return {noise(i, j, 1), noise(j, i + 5, 2), noise(i + j, j, 1)};
}

// luma returns the first component of a pixel, within the picture or mirrored.
static int luma(int n, int i, int j)
{
	Pixel p = made(mirrored(i, n), mirrored(j, n));
	return (p.red + 2 * p.green + p.blue) / 4 - 128;
}

// high_of returns what columns leave of three pixels of a column, as split_rows.
static int high_of(int n, int i, int j)
{
	int sum = luma(n, i - 1, j) + luma(n, i + 1, j);
	return luma(n, i, j) - (sum - (sum & 1)) / 2;
}

// unlike counts coefficients of the first level, high both ways, that are not what they are
// from pixels directly, some in each thirteenth row.
static int unlike(const Plane &y)
{
	int n = y.size(), half = (n + 1) / 2, count = 0;
	for (int i = 0; 2 * i + 1 < n; i += 13)
		for (int j = i % 5; 2 * j + 1 < n; j += 5) {
			int sum = high_of(n, 2 * i + 1, 2 * j) + high_of(n, 2 * i + 1, 2 * j + 2);
			int expected = high_of(n, 2 * i + 1, 2 * j + 1) - (sum - (sum & 1)) / 2;
			count += y.at(half + i, half + j) != expected;
		}
	return count;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0, wrong = 0;
	if (n < 2 || n > 8192) {
		std::puts("usage: dwt2d N, from 2");
		return 2;
	}
	size_t count = static_cast<size_t>(n) * n;
	std::vector<Pixel> picture(count);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			picture[static_cast<size_t>(i) * n + j] = made(i, j);

	Plane y(n), u(n), v(n), work(n);
	for (int i = 0; i < n; i++) {
		const Pixel *p = &picture[static_cast<size_t>(i) * n];
		for (int j = 0; j < n; j++) {
			y.row(i)[j] = ((p[j].red + 2 * p[j].green + p[j].blue) >> 2) - 128;
			u.row(i)[j] = p[j].blue - p[j].green;
			v.row(i)[j] = p[j].red - p[j].green;
		}
	}
	for (Plane *plane : {&y, &u, &v})
		forward(*plane, work);
	wrong += unlike(y);
	int mean = y.at(0, 0);
	for (Plane *plane : {&y, &u, &v})
		backward(*plane, work);

	// Back in colours, and compared.
	for (int i = 0; i < n; i++) {
		const Pixel *p = &picture[static_cast<size_t>(i) * n];
		for (int j = 0; j < n; j++) {
			int green = y.row(i)[j] + 128 - ((u.row(i)[j] + v.row(i)[j]) >> 2);
			wrong += green != p[j].green || u.row(i)[j] + green != p[j].blue ||
			         v.row(i)[j] + green != p[j].red;
		}
	}
	std::printf("dwt2d: n %d, first %d, wrong %d\n", n, mean, wrong);
	return wrong ? 1 : 0;
}
