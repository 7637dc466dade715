// nests.c is loop nests that compilers treat differently from size to size, with
// the size as the constant N and NEST the nest to execute: one in four dimensions,
// shortest paths, a field that is updated in four steps, and a triangular product.
// start.c calls it.

static double a[N][N], b[N][N], c[N][N], d[N][N], q[N][N][N / 4], w[N / 4];
static int p[N][N];
volatile double answer;

static void fill(void) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      a[i][j] = i * j % 7 + 1.0;
      b[i][j] = (i - j) % 5;
      d[i][j] = 1;
      p[i][j] = i * j % 13 + 1;
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N / 4; k++)
        q[i][j][k] = i + j - k;
}

static void contract(void) {
  for (int r = 0; r < N; r++) {
    for (int s = 0; s < N; s++) {
      for (int t = 0; t < N / 4; t++) {
        w[t] = 0;
        for (int u = 0; u < N / 4; u++)
          w[t] += q[r][s][u] * c[u][t];
      }
      for (int t = 0; t < N / 4; t++)
        q[r][s][t] = w[t];
    }
  }
}

static void paths(void) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];
}

static void field(void) {
  for (int t = 0; t < 3; t++) {
    for (int j = 0; j < N; j++)
      b[0][j] = t;
    for (int i = 1; i < N; i++)
      for (int j = 0; j < N; j++)
        b[i][j] -= 0.5 * (d[i][j] - d[i - 1][j]);
    for (int i = 0; i < N; i++)
      for (int j = 1; j < N; j++)
        c[i][j] -= 0.5 * (d[i][j] - d[i][j - 1]);
    for (int i = 0; i < N - 1; i++)
      for (int j = 0; j < N - 1; j++)
        d[i][j] -= 0.7 * (c[i][j + 1] - c[i][j] + b[i + 1][j] - b[i][j]);
  }
}

static void triangle(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < N; k++)
        b[i][j] += a[k][i] * b[k][j];
      b[i][j] *= 1.1;
    }
}

void kernel(void) {
  fill();
  NEST();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      answer += a[i][j] + b[i][j] + c[i][j] + d[i][j] + p[i][j] + q[i][j][0];
}
