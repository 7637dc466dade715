// mesh.c sweeps over a cube of n cells a side, with n as its argument (at most 40): a
// source is made from the last flux, lines of cells are solved from either end along
// each axis, and the difference from the last flux is summed. Data grow with n^3, and
// what is reused of them lies a cell, a line, a plane or the cube apart. It needs no
// library.

#define ALONE __attribute__((noinline))
enum { MOST = 40 * 40 * 40 };
static double flux[MOST], last[MOST], source[MOST], sigma[MOST];
volatile double answer;

ALONE static void fill(int n) {
  for (int i = 0; i < n * n * n; i++) {
    flux[i] = 1;
    sigma[i] = 1 + (i & 7);
  }
}

ALONE static void makeSource(int n) {
  for (int i = 0; i < n * n * n; i++) {
    last[i] = flux[i];
    source[i] = 0.5 * flux[i] + 1;
    flux[i] = 0;
  }
}

ALONE static void solveLine(int n, int at, int step) {
  double in = 0;
  for (int k = 0; k < n; k++, at += step) {
    double out = (source[at] + 2 * in) / (sigma[at] + 2);
    flux[at] += 0.125 * out;
    in = 2 * out - in;
  }
}

ALONE static void sweep(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      solveLine(n, (i * n + j) * n, 1);
      solveLine(n, (i * n + j) * n + n - 1, -1);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      solveLine(n, i * n * n + j, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      solveLine(n, i * n + j, n * n);
}

ALONE static double difference(int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        double d = flux[(i * n + j) * n + k] - last[(i * n + j) * n + k];
        sum += d * d;
      }
  return sum;
}

void begin(long *stack) {
  int n = 0;
  for (const char *digit = (const char *)stack[2]; *digit; digit++)
    n = 10 * n + *digit - '0';
  fill(n);
  for (int again = 0; again < 2; again++) {
    makeSource(n);
    sweep(n);
    answer = difference(n);
  }
  register long number __asm__("a7") = 93, status __asm__("a0") = 0;
  __asm__ volatile("ecall" : : "r"(number), "r"(status));
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
