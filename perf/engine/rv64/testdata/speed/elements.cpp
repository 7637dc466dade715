// Volumes of hexahedral elements: long blocks of double arithmetic on corners that
// are gathered through indices, with more live values than registers.
// Arguments: elements a side, repetitions.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T, int N> struct Vec {
  std::array<T, N> v{};
  T &operator[](int i) { return v[i]; }
  const T &operator[](int i) const { return v[i]; }
};

template <typename T, int N> Vec<T, N> operator-(const Vec<T, N> &a, const Vec<T, N> &b) {
  Vec<T, N> r;
  for (int i = 0; i < N; i++)
    r[i] = a[i] - b[i];
  return r;
}

template <typename T, int N> Vec<T, N> operator+(const Vec<T, N> &a, const Vec<T, N> &b) {
  Vec<T, N> r;
  for (int i = 0; i < N; i++)
    r[i] = a[i] + b[i];
  return r;
}

template <typename T> T triple(const Vec<T, 3> &a, const Vec<T, 3> &b, const Vec<T, 3> &c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 20, times = argc > 2 ? std::atoi(argv[2]) : 10, m = n + 1;
  std::vector<double> x(m * m * m), y(m * m * m), z(m * m * m), force(m * m * m), volume(n * n * n);
  for (int k = 0; k < m; k++)
    for (int j = 0; j < m; j++)
      for (int i = 0; i < m; i++) {
        int p = (k * m + j) * m + i;
        x[p] = i + 0.01 * std::sin(p);
        y[p] = j + 0.01 * std::cos(p);
        z[p] = k + 0.02 * std::sin(2 * p);
      }
  double total = 0;
  for (int t = 0; t < times; t++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
          int b = (k * m + j) * m + i, up = m * m;
          const int corner[8] = {b, b + 1, b + m + 1, b + m, b + up, b + up + 1, b + up + m + 1, b + up + m};
          Vec<double, 3> q[8];
          for (int s = 0; s < 8; s++) {
            q[s][0] = x[corner[s]];
            q[s][1] = y[corner[s]];
            q[s][2] = z[corner[s]];
          }
          double v = triple(q[6] - q[0] + (q[3] - q[1]), q[6] - q[3], q[2] - q[0]) +
                     triple(q[4] - q[3] + (q[6] - q[0]), q[6] - q[4], q[7] - q[0]) +
                     triple(q[1] - q[4] + (q[6] - q[0]), q[6] - q[1], q[5] - q[0]);
          v /= 12;
          volume[(k * n + j) * n + i] = v;
          double d = std::sqrt(v * v + 1e-3);
          for (int s = 0; s < 8; s++)
            force[corner[s]] += d * (q[s][0] * 0.125 - 0.1 * q[s][1] * q[s][2]);
          total += v;
        }
  std::printf("%.6g %.6g\n", total, force[m * m + m + 1]);
}
