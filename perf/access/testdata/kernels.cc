// Loops over C++'s containers.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#define KERNEL __attribute__((noinline))

struct matrix {
	std::vector<double> d;
	int rows, columns;
	matrix(int r, int c) : d(r * c, 1.0), rows(r), columns(c) {}
	double &operator()(int i, int j) { return d[i * columns + j]; }
};

KERNEL void multiply(matrix &a, matrix &b, matrix &c) {
	for (int i = 0; i < a.rows; i++)
		for (int j = 0; j < b.columns; j++) {
			double s = 0;
			for (int k = 0; k < a.columns; k++)
				s += a(i, k) * b(k, j);
			c(i, j) = s;
		}
}

KERNEL void nested(std::vector<std::vector<double>> &v) {
	for (size_t i = 0; i < v.size(); i++)
		for (size_t j = 0; j < v[i].size(); j++)
			v[i][j] += i;
}

struct base { virtual double f(double x) { return x; } };
struct derived : base { double f(double x) override { return x * 2; } };

KERNEL double dispatch(base **s, double *a, int n) {
	double r = 0;
	for (int i = 0; i < n; i++)
		r += s[i % 2]->f(a[i]);
	return r;
}

KERNEL double iterators(const std::vector<double> &v) {
	double s = 0;
	for (double x : v)
		s += x;
	for (auto i = v.rbegin(); i != v.rend(); ++i)
		s -= *i / 2;
	return s;
}

int main() {
	int n = 30;
	matrix a(n, n), b(n, n), c(n, n);
	multiply(a, b, c);
	std::vector<std::vector<double>> v(n, std::vector<double>(n));
	nested(v);
	base x;
	derived y;
	base *both[2] = {&x, &y};
	double r = dispatch(both, &a.d[0], n * n) + iterators(c.d);
	std::vector<int> q;
	for (int i = 0; i < 2000; i++)
		q.push_back(i * 7919 % 1777);
	std::sort(q.begin(), q.end());
	std::map<int, int> m;
	for (int e : q)
		m[e]++;
	for (auto &e : m)
		r += e.second;
	std::string text;
	for (int i = 0; i < 500; i++)
		text += char('a' + i % 26);
	for (char ch : text)
		r += ch;
	printf("%g %d\n", r, q[5]);
}
