// cells.cpp is a mesh of N by N cells as a class template, relaxed by a member
// function that takes a function object. start.c calls it.

namespace {
template <typename T, int Rows, int Columns> class Mesh {
  T cells[Rows * Columns];

public:
  T &at(int i, int j) { return cells[i * Columns + j]; }

  template <typename F> void inside(F f) {
    for (int i = 1; i < Rows - 1; i++)
      for (int j = 1; j < Columns - 1; j++)
        f(i, j);
  }
};

Mesh<double, N, N> from, to;
Mesh<float, N, N> weight;
} // namespace

extern "C" void kernel() {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      from.at(i, j) = i - j;
      weight.at(i, j) = 0.25f;
    }
  for (int sweep = 0; sweep < 4; sweep++) {
    to.inside([](int i, int j) {
      to.at(i, j) = weight.at(i, j) * (from.at(i - 1, j) + from.at(i + 1, j) +
                                       from.at(i, j - 1) + from.at(i, j + 1));
    });
    from.inside([](int i, int j) { from.at(i, j) = to.at(i, j); });
  }
}
