// blocked solve of a lower triangular matrix with n/2 right-hand sides, row-major
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int c, char **v) {
    int n = atoi(v[1]), m = n / 2, B = 24;
    std::vector<double> L(n * n), X(n * m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            L[i * n + j] = i == j ? n : 1.0 / (1 + i - j);
    for (int i = 0; i < n * m; i++)
        X[i] = i % 17;
    for (int b = 0; b < n; b += B) {
        int e = b + B < n ? b + B : n;
        for (int i = b; i < e; i++) {
            for (int k = b; k < i; k++)
                for (int j = 0; j < m; j++)
                    X[i * m + j] -= L[i * n + k] * X[k * m + j];
            for (int j = 0; j < m; j++)
                X[i * m + j] /= L[i * n + i];
        }
        for (int i = e; i < n; i++)
            for (int k = b; k < e; k++)
                for (int j = 0; j < m; j++)
                    X[i * m + j] -= L[i * n + k] * X[k * m + j];
    }
    double s = 0;
    for (double x : X)
        s += x;
    printf("%g\n", s);
}
