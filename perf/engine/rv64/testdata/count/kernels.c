/* Freestanding kernels, for counts that must agree exactly with qemu's: the
   execution depends only on the program's text. */
typedef unsigned long word;

enum { rows = 20, items = 200, length = 300 };

static double a[rows][rows], b[rows][rows], c[rows][rows];
static int sorted[items];
static unsigned char text[length], copy[length];
static word seed = 88172645463325252ul;

static word random_word(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static double multiply(void) {
    double trace = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
            a[i][j] = (double)(random_word() >> 11) * 0x1p-53;
            b[i][j] = (float)(i - j) / 3;
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++)
            for (int k = 0; k < rows; k++)
                c[i][j] += a[i][k] * b[k][j];
    for (int i = 0; i < rows; i++)
        trace += c[i][i] > 0 ? c[i][i] : __builtin_sqrt(-c[i][i]);
    return trace;
}

static void sort(int lo, int hi) {
    if (lo >= hi)
        return;
    int pivot = sorted[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
        while (sorted[i] < pivot)
            i++;
        while (sorted[j] > pivot)
            j--;
        if (i <= j) {
            int t = sorted[i];
            sorted[i++] = sorted[j];
            sorted[j--] = t;
        }
    }
    sort(lo, j);
    sort(i, hi);
}

static word digits(word v) {
    word sum = 0;
    switch (v % 7) {
    case 0: return v;
    case 1: sum = v >> 3; break;
    case 2: sum = v * 17; break;
    case 3: sum = __builtin_popcountl(v); break;
    case 4: sum = -v; break;
    case 5: sum = v ^ 0xff00ff; break;
    }
    for (; v; v /= 10)
        sum += v % 10;
    return sum;
}

static int atomics(int n) {
    static int counter;
    static word bits;
    for (int i = 0; i < n; i++) {
        __atomic_fetch_add(&counter, i, __ATOMIC_SEQ_CST);
        __atomic_fetch_or(&bits, 1ul << i % 64, __ATOMIC_RELAXED);
        int want = counter;
        __atomic_compare_exchange_n(&counter, &want, want + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    return counter + (int)bits;
}

#ifdef FORTRAN
extern void relax_(double *u, int *n, int *steps, double *sum);
#endif

int run(void) {
    word sum = (word)multiply();
    for (int i = 0; i < items; i++)
        sorted[i] = (int)random_word();
    sort(0, items - 1);
    for (int i = 0; i < items; i++)
        sum = sum * 31 + digits((word)(unsigned)sorted[i]);
    for (int i = 0; i < length; i++)
        text[i] = (unsigned char)random_word();
    for (int shift = 0; shift < 9; shift++)
        for (int i = shift; i < length; i++)
            copy[i - shift] ^= text[i];
    for (int i = 0; i < length; i++)
        sum += copy[i];
    sum += (word)atomics(50);
#ifdef FORTRAN
    static double u[30 * 30], total;
    int n = 30, steps = 4;
    u[n * 10 + 10] = 100;
    relax_(u, &n, &steps, &total);
    sum += (word)total;
#endif
    return (int)(sum % 251);
}

void *memset(void *p, int v, word n) {
    for (word i = 0; i < n; i++)
        ((volatile unsigned char *)p)[i] = (unsigned char)v;
    return p;
}

void *memcpy(void *p, const void *q, word n) {
    for (word i = 0; i < n; i++)
        ((volatile unsigned char *)p)[i] = ((const unsigned char *)q)[i];
    return p;
}

static word stack[4096];

__attribute__((naked, noreturn)) void _start(void) {
    __asm__(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
            "la sp, %0\nli t0, %1\nadd sp, sp, t0\n"
            "call run\nli a7, 93\necall\n"
            :
            : "s"(stack), "i"(sizeof stack));
}
