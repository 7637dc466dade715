// all pairs' shortest paths with predecessors, vectors of vectors
#include <cstdio>
#include <cstdlib>
#include <vector>
using V = std::vector<std::vector<int>>;
int main(int c, char **a) {
    int n = atoi(a[1]);
    V d(n, std::vector<int>(n, 1 << 28)), p(n, std::vector<int>(n, -1));
    unsigned s = 7;
    auto r = [&] {
        s = s * 1103515245u + 12345u;
        return s >> 8;
    };
    for (int i = 0; i < n; i++) {
        d[i][i] = 0;
        for (int k = 0; k < 6; k++) {
            int j = r() % n;
            d[i][j] = 1 + r() % 100;
            p[i][j] = i;
        }
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            if (d[i][k] >= 1 << 28)
                continue;
            for (int j = 0; j < n; j++)
                if (d[i][k] + d[k][j] < d[i][j]) {
                    d[i][j] = d[i][k] + d[k][j];
                    p[i][j] = p[k][j];
                }
        }
    long t = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (d[i][j] < 1 << 28)
                t += d[i][j];
    printf("%ld\n", t);
}
