// std::sort of n pseudo-random numbers, then binary searches for each.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
	long n = argc > 1 ? std::atol(argv[1]) : 1000;
	std::vector<double> v(n), keys;
	unsigned seed = 1;
	for (double &x : v) {
		seed = seed * 1664525u + 1013904223u;
		x = seed / 4294967296.0;
	}
	keys = v;
	std::sort(v.begin(), v.end());
	long found = 0;
	for (double k : keys)
		found += std::lower_bound(v.begin(), v.end(), k) - v.begin();
	std::printf("%ld %ld\n", n, found);
}
