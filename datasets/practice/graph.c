// level-synchronous search of a random graph in CSR, n vertices, degree about 6
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint64_t s = 88172645463325252ull;
static uint32_t rnd(void) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s >> 11;
}
int main(int c, char **v) {
    int n = atoi(v[1]), m = n * 3;
    int *off = calloc(n + 1, sizeof(int)), *src = malloc(m * sizeof(int)),
        *dst = malloc(m * sizeof(int));
    for (int i = 0; i < m; i++) {
        src[i] = rnd() % n;
        dst[i] = rnd() % n;
        off[src[i]]++;
        off[dst[i]]++;
    }
    int sum = 0;
    for (int i = 0; i <= n; i++) {
        int t = i < n ? off[i] : 0;
        off[i] = sum;
        sum += t;
    }
    int *pos = malloc(n * sizeof(int)), *adj = malloc(2 * m * sizeof(int));
    for (int i = 0; i < n; i++)
        pos[i] = off[i];
    for (int i = 0; i < m; i++) {
        adj[pos[src[i]]++] = dst[i];
        adj[pos[dst[i]]++] = src[i];
    }
    free(src);
    free(dst);
    int *dist = malloc(n * sizeof(int)), *q = malloc(n * sizeof(int)),
        *par = malloc(n * sizeof(int));
    long tot = 0;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++)
            dist[i] = -1;
        int h = 0, t = 0;
        q[t++] = rnd() % n;
        dist[q[0]] = 0;
        par[q[0]] = -1;
        while (h < t) {
            int u = q[h++];
            for (int e = off[u]; e < off[u + 1]; e++) {
                int w = adj[e];
                if (dist[w] < 0) {
                    dist[w] = dist[u] + 1;
                    par[w] = u;
                    q[t++] = w;
                }
            }
        }
        tot += t + dist[q[t - 1]];
    }
    printf("%ld\n", tot);
    return 0;
}
