// sized.c is a few loop nests whose size n is the program's argument or,
// compiled with -DN=20, a constant: a matrix product, an LU decomposition, a
// stencil that is called twice, a triangular sum, and rows that are shuffled.
// It needs no library, so that there is little to analyse besides.

#ifdef N
#define SIZE
#define PASS
#define n N
#else
#define SIZE int n,
#define PASS n,
#endif

#define ALONE __attribute__((noinline))
#ifdef INLINE
#define MAYBE __attribute__((always_inline)) inline
#else
#define MAYBE ALONE
#endif

enum { MOST = 64 * 64 };
#define PAGE __attribute__((aligned(4096)))
static double A[MOST] PAGE, B[MOST] PAGE, C[MOST] PAGE;
static int AT[64] PAGE;
volatile double answer;

ALONE static void fill(SIZE double *a, double *b, double *c, int *at) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i * n + j] = 1.0 / (1 + i + j) + (i == j) * n;
      b[i * n + j] = i - j;
      c[i * n + j] = 0;
    }
  for (int i = 0; i < n; i++)
    at[i] = (i * 7 + 3) % n;
}

ALONE static void product(SIZE const double *a, const double *b, double *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] += sum;
    }
}

ALONE static void decompose(SIZE double *a) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

MAYBE static void smooth(SIZE const double *from, double *to) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] +
                              from[i * n + j - 1] + from[i * n + j + 1]);
}

ALONE static double shuffled(SIZE const double *a, const int *at) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum += a[at[i] * n + at[j]];
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++)
      sum += a[i * n + j];
  return sum;
}

ALONE static void leave(void) {
  register long number __asm__("a7") = 93, status __asm__("a0") = 0;
  __asm__ volatile("ecall" : : "r"(number), "r"(status));
}

void begin(long *stack) {
#ifndef N
  int n = 0;
  for (const char *digit = (const char *)stack[2]; *digit; digit++)
    n = 10 * n + *digit - '0';
#endif
  fill(PASS A, B, C, AT);
  product(PASS A, B, C);
  decompose(PASS A);
  for (int again = 0; again < 3; again++) {
    smooth(PASS C, B);
    smooth(PASS B, C);
  }
  answer = shuffled(PASS A, AT) + C[n + 1];
  leave();
}

__asm__(".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "la gp, __global_pointer$\n"
        ".option pop\n"
        "mv a0, sp\n"
        "andi sp, sp, -16\n"
        "call begin\n");
