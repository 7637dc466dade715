// A balanced tree: n pseudo-random keys are inserted, then visited in order.
#include <cstdio>
#include <cstdlib>
#include <map>

int main(int argc, char **argv) {
	long n = argc > 1 ? std::atol(argv[1]) : 1000;
	std::map<unsigned, int> tree;
	unsigned seed = 1;
	for (long i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		tree[seed] = i & 7;
	}
	long sum = 0;
	for (const auto &e : tree)
		sum = sum * 3 + e.second;
	std::printf("%ld %ld\n", n, sum);
}
