// Merge sort of n records from the shortest runs up. The size is the argument;
// records are in two std::vectors that take turns.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct Record {
	uint32_t key, value;
};

// merge merges from[lo..mid) and from[mid..hi) into to.
static void merge(const std::vector<Record> &from, std::vector<Record> &to, size_t lo, size_t mid, size_t hi)
{
	size_t i = lo, j = mid;
	for (size_t k = lo; k < hi; k++)
		if (j == hi || (i < mid && from[i].key <= from[j].key))
			to[k] = from[i++];
		else
			to[k] = from[j++];
}

static void sort(std::vector<Record> &a)
{
	size_t n = a.size();
	std::vector<Record> b(n);
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * run) {
			size_t mid = lo + run < n ? lo + run : n, hi = lo + 2 * run < n ? lo + 2 * run : n;
			merge(a, b, lo, mid, hi);
		}
		std::swap(a, b);
	}
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 1) {
		std::puts("usage: mergesort N");
		return 2;
	}
	std::vector<Record> a(n);
	uint32_t x = 2463534242u;
	uint64_t before = 0, after = 0;
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		a[i] = {x % 65536, static_cast<uint32_t>(i)};
		before += (a[i].key + 1ull) * (a[i].value + 7ull);
	}
	sort(a);
	int wrong = 0;
	for (int i = 0; i < n; i++) {
		after += (a[i].key + 1ull) * (a[i].value + 7ull);
		// Equal keys keep their order.
		if (i > 0 && (a[i - 1].key > a[i].key || (a[i - 1].key == a[i].key && a[i - 1].value >= a[i].value)))
			wrong++;
	}
	std::printf("mergesort: n %d, out of order %d, checksum %s\n", n, wrong, before == after ? "kept" : "changed");
	return wrong != 0 || before != after;
}
