// top-down merge sort of records of a key and an index, insertion sort below 16, one buffer
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct R {
    double k;
    int id;
};
static void sort(R *a, R *b, int lo, int hi) {
    if (hi - lo <= 16) {
        for (int i = lo + 1; i < hi; i++) {
            R x = a[i];
            int j = i;
            while (j > lo && a[j - 1].k > x.k) {
                a[j] = a[j - 1];
                j--;
            }
            a[j] = x;
        }
        return;
    }
    int mid = lo + (hi - lo) / 2;
    sort(a, b, lo, mid);
    sort(a, b, mid, hi);
    for (int i = lo; i < mid; i++)
        b[i] = a[i];
    int i = lo, j = mid, k = lo;
    while (i < mid && j < hi)
        a[k++] = b[i].k <= a[j].k ? b[i++] : a[j++];
    while (i < mid)
        a[k++] = b[i++];
}
int main(int c, char **v) {
    int n = atoi(v[1]);
    std::vector<R> a(n), b(n);
    uint64_t s = 777;
    for (int i = 0; i < n; i++) {
        s = s * 6364136223846793005ull + 1;
        a[i] = {(double)(s >> 20), i};
    }
    sort(a.data(), b.data(), 0, n);
    long t = 0;
    for (int i = 0; i < n; i += 97)
        t += a[i].id;
    printf("%ld\n", t);
}
