// Conjugate gradients on a grid, with expression templates for vectors.
// Arguments: grid points a side, iterations.
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class E> struct Expr {
  double operator[](size_t i) const { return static_cast<const E &>(*this)[i]; }
};

struct Vec : Expr<Vec> {
  std::vector<double> data;
  explicit Vec(size_t n, double v = 0) : data(n, v) {}
  double operator[](size_t i) const { return data[i]; }
  double &operator[](size_t i) { return data[i]; }
  template <class E> Vec &operator=(const Expr<E> &e) {
    for (size_t i = 0; i < data.size(); i++)
      data[i] = e[i];
    return *this;
  }
};

template <class A, class B> struct Sum : Expr<Sum<A, B>> {
  const A &a;
  const B &b;
  Sum(const A &a, const B &b) : a(a), b(b) {}
  double operator[](size_t i) const { return a[i] + b[i]; }
};

template <class A> struct Scaled : Expr<Scaled<A>> {
  double s;
  const A &a;
  Scaled(double s, const A &a) : s(s), a(a) {}
  double operator[](size_t i) const { return s * a[i]; }
};

template <class A, class B> Sum<A, B> operator+(const Expr<A> &a, const Expr<B> &b) {
  return {static_cast<const A &>(a), static_cast<const B &>(b)};
}
template <class A> Scaled<A> operator*(double s, const Expr<A> &a) { return {s, static_cast<const A &>(a)}; }

static double dot(const Vec &a, const Vec &b) {
  double s = 0;
  for (size_t i = 0; i < a.data.size(); i++)
    s += a[i] * b[i];
  return s;
}

static void apply(const Vec &p, Vec &q, int n) {
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < n - 1; i++) {
      int c = j * n + i;
      q[c] = 4.1 * p[c] - p[c - 1] - p[c + 1] - p[c - n] - p[c + n];
    }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 100, times = argc > 2 ? std::atoi(argv[2]) : 50;
  size_t size = size_t(n) * n;
  Vec x(size), r(size, 1), p(size, 1), q(size);
  double rr = dot(r, r);
  for (int t = 0; t < times; t++) {
    apply(p, q, n);
    double a = rr / (dot(p, q) + 1e-30);
    x = x + a * p;
    r = r + (-a) * q;
    double next = dot(r, r);
    p = r + (next / rr) * p;
    rr = next;
  }
  std::printf("%.3g\n", dot(x, x));
}
