// Where the first of the least elements of a vector is, of n, the argument. Eighty times, each
// time what was found grows, so that the next is another. The vector's elements repeat, so
// that many are the same.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int repeats = 80, period = 1009, factor = 619;
constexpr double grown = 5000;

static size_t first_minimum(const std::vector<double> &x)
{
	size_t m = 0;
	for (size_t k = 1; k < x.size(); k++)
		if (x[k] < x[m])
			m = k;
	return m;
}

static double element(size_t k)
{
	return static_cast<double>(k * factor % period);
}

// where returns the place within a period at which an element has a value.
static size_t where(int value)
{
	size_t k = 0;
	while (element(k) != value)
		k++;
	return k;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0, wrong = 0;
	if (n < 2 || n > 100000000) {
		std::puts("usage: firstmin N, from 2");
		return 2;
	}
	std::vector<double> x(n);
	for (size_t k = 0; k < x.size(); k++)
		x[k] = element(k);

	// The first of each value comes in the first period, and the next a period later.
	int value = 0;
	size_t expected = where(0), m = 0;
	for (int t = 0; t < repeats && t < n; t++) {
		while (expected >= x.size())
			expected = where(++value);
		m = first_minimum(x);
		wrong += m != expected || x[m] != value;
		x[m] += grown;
		expected += period;
	}
	std::printf("firstmin: n %d, last at %zu, of %d, wrong %d\n", n, m, value, wrong);
	return wrong ? 1 : 0;
}
