// Transfers control in the ways of C++: exceptions through frames with
// destructors, rethrown, out of constructors, from virtual calls.
#include <cstdio>
#include <stdexcept>

struct Guard {
	explicit Guard(int &n) : n(n) { if (n > 40) throw std::length_error("too many"); }
	~Guard() { n++; }
	int &n;
};

struct Shape {
	virtual ~Shape() = default;
	virtual int corners(int) const { throw std::logic_error("shape"); }
};
struct Square : Shape {
	int corners(int n) const override { return 4 * n; }
};

static int depth(int n, int &log)
{
	Guard g(log);
	if (n == 0)
		throw std::out_of_range("bottom");
	try {
		return depth(n - 1, log) + 1;
	} catch (const std::out_of_range &) {
		if (n % 2)
			throw;
		throw std::range_error("between");
	}
}

int main()
{
	int log = 0, caught = 0;
	const Shape plain;
	const Square square;
	const Shape *shapes[] = {&plain, &square};
	for (int i = 0; i < 12; i++) {
		try {
			caught += shapes[i % 2]->corners(i);
			depth(i, log);
		} catch (const std::exception &e) {
			caught += e.what()[0];
		}
	}
	std::printf("%d %d\n", log, caught);
	return caught & 63;
}
