// radix-2 transform in place with bit reversal, of the next power of two of n, and a convolution
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
typedef double complex C;
static void fft(C *a, int n, int inv) {
    for (int i = 1, j = 0; i < n; i++) {
        int b = n >> 1;
        for (; j & b; b >>= 1)
            j ^= b;
        j ^= b;
        if (i < j) {
            C t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
    for (int l = 2; l <= n; l <<= 1) {
        double w = 2 * M_PI / l * (inv ? -1 : 1);
        C wl = cexp(I * w);
        for (int i = 0; i < n; i += l) {
            C z = 1;
            for (int k = 0; k < l / 2; k++) {
                C u = a[i + k], t = a[i + k + l / 2] * z;
                a[i + k] = u + t;
                a[i + k + l / 2] = u - t;
                z *= wl;
            }
        }
    }
}
int main(int c, char **v) {
    int n = atoi(v[1]), p = 1;
    while (p < 2 * n)
        p *= 2;
    C *a = calloc(p, sizeof(C)), *b = calloc(p, sizeof(C));
    for (int i = 0; i < n; i++) {
        a[i] = i % 13;
        b[i] = i % 7;
    }
    fft(a, p, 0);
    fft(b, p, 0);
    for (int i = 0; i < p; i++)
        a[i] *= b[i];
    fft(a, p, 1);
    printf("%g\n", creal(a[n / 3]) / p);
    return 0;
}
