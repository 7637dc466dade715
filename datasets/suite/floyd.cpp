// Shortest paths between all pairs of vertices, by Floyd and Warshall. The number of
// vertices is the argument; distances are in a std::vector.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const int none = 1 << 28;

// weight returns the length of the edge from i to j, or none.
static int weight(int i, int j)
{
	if (i == j)
		return 0;
	unsigned h = i * 2654435761u + j * 40503u;
	h ^= h >> 15;
	h *= 2246822519u;
	h ^= h >> 13;
	return h % 4 == 0 ? 1 + static_cast<int>(h / 4 % 1000) : none;
}

static void paths(std::vector<int> &d, int n)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++) {
			int ik = d[static_cast<size_t>(i) * n + k];
			if (ik == none)
				continue;
			for (int j = 0; j < n; j++) {
				int by = ik + d[static_cast<size_t>(k) * n + j];
				int &ij = d[static_cast<size_t>(i) * n + j];
				ij = std::min(ij, by);
			}
		}
}

// wrong returns how many vertices have a distance from s that is not the least of
// that of a neighbour and the edge from there.
static int wrong(const std::vector<int> &d, int n, int s)
{
	int bad = d[static_cast<size_t>(s) * n + s] != 0;
	for (int v = 0; v < n; v++) {
		int best = v == s ? 0 : none;
		for (int u = 0; u < n; u++)
			if (u != v)
				best = std::min(best, d[static_cast<size_t>(s) * n + u] + weight(u, v));
		bad += best != d[static_cast<size_t>(s) * n + v];
	}
	return bad;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 2) {
		std::puts("usage: floyd N, at least 2");
		return 2;
	}
	std::vector<int> d(static_cast<size_t>(n) * n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			d[static_cast<size_t>(i) * n + j] = weight(i, j);
	paths(d, n);
	int bad = wrong(d, n, 0) + wrong(d, n, n / 2);
	std::printf("floyd: n %d, wrong %d\n", n, bad);
	return bad != 0;
}
