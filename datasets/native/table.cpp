// A hash table: n pseudo-random keys are inserted, then looked up four times.
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

int main(int argc, char **argv) {
	long n = argc > 1 ? std::atol(argv[1]) : 1000;
	std::unordered_map<unsigned, int> table;
	unsigned seed = 1;
	for (long i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		table[seed >> 8] += i & 7;
	}
	long sum = 0;
	for (int times = 0; times < 4; times++) {
		seed = 1;
		for (long i = 0; i < n; i++) {
			seed = seed * 1664525u + 1013904223u;
			sum += table.find(seed >> 8)->second;
		}
	}
	std::printf("%ld %ld\n", n, sum);
}
