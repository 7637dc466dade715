// A fragment of conjugate gradients preconditioned by an incomplete Cholesky factorisation:
// unknowns are eliminated by halves, every second from its neighbours, so that n of them, the
// argument, become n / 2 behind them, then n / 4, down to one. Repeated, from the last result.
// Vectors of 2 n elements, of whole numbers, so that all is exact.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int repeats = 96;

// halves writes each level behind the one before, with an element between that is nothing,
// and returns how many elements there are.
static int halves(int n, std::vector<double> &x, const std::vector<double> &v)
{
	int first = 0, left = n;
	for (; left > 1; left /= 2) {
		int end = first + left, i = end + 1;
		for (int k = first + 1; k < end; k += 2, i++)
			x[i] = x[k] - v[k] * x[k - 1] - v[k + 1] * x[k + 1];
		first = end + 1;
	}
	return first + left;
}

// weigh takes the weights of all elements back to the n that the others are made of.
static void weigh(int n, std::vector<double> &w, const std::vector<double> &v)
{
	std::vector<int> starts, counts;
	for (int at = 0, left = n; left > 0; at += left + 1, left /= 2) {
		starts.push_back(at);
		counts.push_back(left);
	}
	for (size_t level = starts.size() - 1; level > 0; level--)
		for (int e = counts[level] - 1; e >= 0; e--) {
			int i = starts[level] + e, k = starts[level - 1] + 1 + 2 * e;
			w[k] += w[i];
			w[k - 1] -= v[k] * w[i];
			w[k + 1] -= v[k + 1] * w[i];
		}
}

static double weighted(int n, const std::vector<double> &w, const std::vector<double> &x)
{
	double sum = 0;
	for (int k = 0; k < n; k++)
		sum += w[k] * x[k];
	return sum;
}

static double sign(int k)
{
	return k % 3 - 1;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0, wrong = 0, all = 0;
	if (n < 4 || n > 20000000) {
		std::puts("usage: iccg N, from 4");
		return 2;
	}
	// An element more for each level.
	std::vector<double> x(2 * static_cast<size_t>(n) + 64), v(x.size()), all_weights(x.size());
	for (int k = 0; k < n; k++)
		x[k] = k * 7L % 23 - 11;
	for (size_t k = 0; k < v.size(); k++)
		v[k] = sign(static_cast<int>(k * 5 % 7 + k / 64));

	// What the last element is made of, once for all repetitions.
	int last = 0;
	for (int left = n; left > 1; left /= 2)
		last += left + 1;
	std::vector<double> weights(x.size());
	weights[last] = 1;
	weigh(n, weights, v);
	double expected = weighted(n, weights, x);
	for (int t = 0; t < repeats; t++) {
		all = halves(n, x, v);
		wrong += x[last] != expected;
		// One of the first elements changes by what the last is.
		int k = t * 977 % n;
		double change = static_cast<double>(static_cast<long>(x[last]) % 3) + 1;
		x[k] += change;
		expected += weights[k] * change;
	}
	halves(n, x, v);

	// The sum of all, each with a weight.
	double sum = 0;
	for (int k = 0; k < all; k++) {
		all_weights[k] = k % 5 + 1;
		sum += all_weights[k] * x[k];
	}
	weigh(n, all_weights, v);
	wrong += sum != weighted(n, all_weights, x);
	wrong += all != last + 1;
	std::printf("iccg: n %d, last %.0f, sum %.0f, wrong %d\n", n, x[last], sum, wrong);
	return wrong ? 1 : 0;
}
