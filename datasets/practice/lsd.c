// keys and values sorted by 4 passes of 8 bits, then runs counted
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v) {
    int n = atoi(v[1]);
    uint32_t *k = malloc(n * 4), *k2 = malloc(n * 4), *x = malloc(n * 4), *x2 = malloc(n * 4);
    uint64_t s = 31337;
    for (int i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        k[i] = (uint32_t)(s >> 9) % (4u * n);
        x[i] = i;
    }
    for (int sh = 0; sh < 32; sh += 8) {
        int cnt[257] = {0};
        for (int i = 0; i < n; i++)
            cnt[((k[i] >> sh) & 255) + 1]++;
        for (int b = 0; b < 256; b++)
            cnt[b + 1] += cnt[b];
        for (int i = 0; i < n; i++) {
            int d = cnt[(k[i] >> sh) & 255]++;
            k2[d] = k[i];
            x2[d] = x[i];
        }
        uint32_t *t = k;
        k = k2;
        k2 = t;
        t = x;
        x = x2;
        x2 = t;
    }
    long u = 0;
    for (int i = 1; i < n; i++)
        u += k[i] != k[i - 1];
    printf("%ld %u\n", u, x[n / 2]);
    return 0;
}
