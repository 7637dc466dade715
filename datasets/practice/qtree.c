// n points, sorted by an octree built node by node, then nearest neighbours by descent
#include <stdio.h>
#include <stdlib.h>
typedef struct Q {
    double x, y;
    struct Q *c[4];
} Q;
static unsigned long s = 1234567;
static double rnd(void) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (s >> 11) * 0x1p-53;
}
static void put(Q *r, Q *q) {
    for (;;) {
        int k = (q->x > r->x) | (q->y > r->y) << 1;
        if (!r->c[k]) {
            r->c[k] = q;
            return;
        }
        r = r->c[k];
    }
}
static void near(Q *r, double x, double y, double *best, long *seen) {
    if (!r)
        return;
    (*seen)++;
    double d = (r->x - x) * (r->x - x) + (r->y - y) * (r->y - y);
    if (d < *best)
        *best = d;
    int k = (x > r->x) | (y > r->y) << 1;
    near(r->c[k], x, y, best, seen);
    double dx = r->x - x, dy = r->y - y;
    if (dx * dx < *best)
        near(r->c[k ^ 1], x, y, best, seen);
    if (dy * dy < *best)
        near(r->c[k ^ 2], x, y, best, seen);
    if (dx * dx + dy * dy < *best)
        near(r->c[k ^ 3], x, y, best, seen);
}
int main(int c, char **a) {
    int n = atoi(a[1]);
    Q *root = 0;
    for (int i = 0; i < n; i++) {
        Q *q = calloc(1, sizeof *q);
        q->x = rnd();
        q->y = rnd();
        if (!root)
            root = q;
        else
            put(root, q);
    }
    double t = 0;
    long seen = 0;
    for (int i = 0; i < n / 2; i++) {
        double b = 4;
        near(root, rnd(), rnd(), &b, &seen);
        t += b;
    }
    printf("%g %ld\n", t, seen);
    return 0;
}
