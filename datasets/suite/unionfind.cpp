// Clusters of open sites on an n x n grid, by union and find with path halving and
// union by size. The size is the argument; arrays are on the heap, by new.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

class Sets {
public:
	explicit Sets(int n) : parent_(new int32_t[n]), size_(new int32_t[n])
	{
		for (int i = 0; i < n; i++) {
			parent_[i] = i;
			size_[i] = 1;
		}
	}
	int find(int i)
	{
		while (parent_[i] != i) {
			parent_[i] = parent_[parent_[i]];
			i = parent_[i];
		}
		return i;
	}
	// join reports whether i and j were in two sets, which it makes one.
	bool join(int i, int j)
	{
		i = find(i);
		j = find(j);
		if (i == j)
			return false;
		if (size_[i] < size_[j]) {
			int t = i;
			i = j;
			j = t;
		}
		parent_[j] = i;
		size_[i] += size_[j];
		return true;
	}

private:
	std::unique_ptr<int32_t[]> parent_, size_;
};

// flood counts clusters by filling one after the other.
static int flood(const uint8_t *open, int n)
{
	int sites = n * n, clusters = 0;
	std::unique_ptr<uint8_t[]> seen(new uint8_t[sites]());
	std::unique_ptr<int32_t[]> stack(new int32_t[sites]);
	for (int s = 0; s < sites; s++) {
		if (!open[s] || seen[s])
			continue;
		clusters++;
		int top = 0;
		stack[top++] = s;
		seen[s] = 1;
		while (top > 0) {
			int v = stack[--top], x = v % n;
			const int to[4] = {x > 0 ? v - 1 : -1, x < n - 1 ? v + 1 : -1, v - n, v + n < sites ? v + n : -1};
			for (int w : to)
				if (w >= 0 && open[w] && !seen[w]) {
					seen[w] = 1;
					stack[top++] = w;
				}
		}
	}
	return clusters;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 2) {
		std::puts("usage: unionfind N, at least 2");
		return 2;
	}
	int sites = n * n;
	std::unique_ptr<uint8_t[]> open(new uint8_t[sites]());
	std::unique_ptr<int32_t[]> order(new int32_t[sites]);
	uint32_t x = 12345;
	for (int i = 0; i < sites; i++)
		order[i] = i;
	for (int i = sites - 1; i > 0; i--) {
		x = x * 1664525 + 1013904223;
		int j = static_cast<int>((static_cast<uint64_t>(x) * (i + 1)) >> 32);
		int32_t t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	// Three fifths of the sites are opened, near the threshold of percolation.
	Sets sets(sites);
	int clusters = 0;
	for (int k = 0; k < sites * 3 / 5; k++) {
		int v = order[k], column = v % n;
		open[v] = 1;
		clusters++;
		if (column > 0 && open[v - 1])
			clusters -= sets.join(v, v - 1);
		if (column < n - 1 && open[v + 1])
			clusters -= sets.join(v, v + 1);
		if (v >= n && open[v - n])
			clusters -= sets.join(v, v - n);
		if (v + n < sites && open[v + n])
			clusters -= sets.join(v, v + n);
	}
	int want = flood(open.get(), n);
	std::printf("unionfind: n %d, clusters %d, by filling %d\n", n, clusters, want);
	return clusters != want;
}
