// a cache of n/2 pages with LRU replacement (list and chained index in arrays), asked n*4 times,
// popular pages more often
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int c, char **a) {
    int n = atoi(a[1]), cap = n / 2, b = n | 1;
    uint64_t s = 4711;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s >> 16;
    };
    std::vector<int> head(b, -1), next(cap), prev(cap), up(cap), down(cap);
    std::vector<long> key(cap, -1), val(cap);
    int used = 0, first = -1, last = -1;
    long hits = 0, sum = 0;
    for (long q = 0; q < 4l * n; q++) {
        long k = (r() % n) * (r() % 1024) >> 10;
        int h = k * 2654435761ul % b, i = head[h];
        while (i >= 0 && key[i] != k)
            i = next[i];
        if (i >= 0) {
            hits++;
            sum += val[i];
            if (i != first) {
                if (down[i] >= 0)
                    up[down[i]] = up[i];
                else
                    last = up[i];
                if (up[i] >= 0)
                    down[up[i]] = down[i];
                up[i] = -1;
                down[i] = first;
                up[first] = i;
                first = i;
            }
            continue;
        }
        if (used < cap)
            i = used++;
        else {
            i = last;
            last = up[i];
            down[last] = -1;
            int g = key[i] * 2654435761ul % b;
            int p = prev[i];
            if (p >= 0)
                next[p] = next[i];
            else
                head[g] = next[i];
            if (next[i] >= 0)
                prev[next[i]] = p;
        }
        key[i] = k;
        val[i] = q;
        next[i] = head[h];
        prev[i] = -1;
        if (next[i] >= 0)
            prev[next[i]] = i;
        head[h] = i;
        up[i] = -1;
        down[i] = first;
        if (first >= 0)
            up[first] = i;
        else
            last = i;
        first = i;
    }
    printf("%ld %ld\n", hits, sum);
}
