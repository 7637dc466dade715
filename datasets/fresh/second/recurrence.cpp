// A first-order linear recurrence, forwards through n elements, the argument, and back
// from where it ended, as when a transport equation is swept both ways. Several series of
// coefficients are gone through in turn; all are vectors.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int series = 3, sweeps = 16;

using Vector = std::vector<double>;

static double draw()
{
	static uint64_t seed = 19;
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return static_cast<double>(seed >> 40) / (1 << 24);
}

// What an element does to the value that goes through: it adds, and it scales.
struct Coefficients {
	Vector add, scale;

	explicit Coefficients(int n) : add(n), scale(n)
	{
		for (int k = 0; k < n; k++) {
			add[k] = draw() - 0.5;
			// Less one, it is near one or minus one, so that nothing is forgotten.
			scale[k] = draw() < 0.5 ? draw() / n : 2 - draw() / n;
		}
	}
};

// pass goes both ways, b[k] = add[k] + s scale[k] and s = b[k] - s, and returns s.
static double pass(const Coefficients &c, double s, Vector &b)
{
	int n = static_cast<int>(b.size());
	for (int k = 0; k < n; k++) {
		b[k] = c.add[k] + s * c.scale[k];
		s = b[k] - s;
	}
	for (int k = n - 1; k >= 0; k--) {
		b[k] = c.add[k] + s * c.scale[k];
		s = b[k] - s;
	}
	return s;
}

// An affine map s -> a + m s.
struct Map {
	double a, m;
};

// composed returns the map of elements from begin up to end, halves first: that it is
// associative makes this another way.
static Map composed(const Coefficients &c, int begin, int end)
{
	if (end - begin == 1)
		return {c.add[begin], c.scale[begin] - 1};
	int middle = begin + (end - begin) / 2;
	Map first = composed(c, begin, middle), then = composed(c, middle, end);
	return {then.a + then.m * first.a, then.m * first.m};
}

// reversed is the same for the way back.
static Map reversed(const Coefficients &c, int begin, int end)
{
	if (end - begin == 1)
		return {c.add[begin], c.scale[begin] - 1};
	int middle = begin + (end - begin) / 2;
	Map first = reversed(c, middle, end), then = reversed(c, begin, middle);
	return {then.a + then.m * first.a, then.m * first.m};
}

// worse returns the larger, and what is not a number if one is.
static double worse(double a, double b)
{
	return a >= b || a != a ? a : b;
}

// error compares where a pass ended, and each element that it left, with the maps.
static double error(const Coefficients &c, double from, double to, const Vector &b)
{
	int n = static_cast<int>(b.size());
	Map there = composed(c, 0, n), back = reversed(c, 0, n);
	double turned = there.a + there.m * from;
	double worst = std::fabs(back.a + back.m * turned - to), s = to;
	for (int k = 0; k < n; k++) {
		double entered = b[k] - s; // what entered from behind
		worst = worse(worst, std::fabs(c.add[k] + entered * c.scale[k] - b[k]));
		s = entered;
	}
	return worse(worst, std::fabs(s - turned));
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 1 || n > 50000000) {
		std::puts("usage: recurrence N");
		return 2;
	}
	std::vector<Coefficients> all;
	std::vector<Vector> results(series, Vector(n));
	for (int i = 0; i < series; i++)
		all.emplace_back(n);
	double s = 0.25, worst = 0;
	for (int t = 0; t < sweeps; t++)
		for (int i = 0; i < series; i++) {
			double from = s;
			s = pass(all[i], s, results[i]);
			if (t == sweeps - 1)
				worst = worse(worst, error(all[i], from, s, results[i]));
		}
	std::printf("recurrence: n %d, ends at %.9f, error %.1e\n", n, s, worst);
	return worst < 1e-9 ? 0 : 1;
}
