// Loops whose misses by pattern are known: n is the program's argument.

enum { MOST = 256 };
#define ALONE __attribute__((noinline))
#define LINE __attribute__((aligned(65536)))

double a[MOST * MOST] LINE, b[MOST * MOST] LINE;
double x[4096] LINE, y[4096] LINE; // at the same place of each way
struct record { double key, rest[7]; };
struct record records[4096] LINE;
volatile double answer;

// Sums the columns of a, which is stored by rows.
ALONE static double columns(long n) {
  double s = 0;
  for (long j = 0; j < n; j++)
    for (long i = 0; i < n; i++)
      s += a[i * n + j];
  return s;
}

// Writes b, then reads it in a loop of its own, in each step.
ALONE static double steps(long n) {
  double s = 0;
  for (long t = 0; t < 4; t++) {
    for (long i = 0; i < n * n; i++)
      b[i] = t;
    for (long i = 0; i < n * n; i++)
      s += b[i];
  }
  return s;
}

// Reads two arrays at once.
ALONE static double collide(long n) {
  double s = 0;
  for (long i = 0; i < n * 8; i++)
    s += x[i] * y[i];
  return s;
}

// Reads one field of records of a line.
ALONE static double keys(long n) {
  double s = 0;
  for (long i = 0; i < n * 8; i++)
    s += records[i].key;
  return s;
}

double z[4096] LINE;

ALONE static double reads(long n) {
  double s = 0;
  for (long i = 0; i < n * 8; i++)
    s += z[i];
  return s;
}

// Jumps to another routine after its loop, with no access in between.
ALONE static double writes(long n) {
  for (long i = 0; i < n * 8; i++)
    z[i] = i;
  return reads(n);
}

static long number(const char *text) {
  long n = 0;
  while (*text)
    n = 10 * n + *text++ - '0';
  return n;
}

__attribute__((noreturn, used)) static void begin(long *stack) {
  long n = number((const char *)stack[3]); // program -n 64
  answer = columns(n) + steps(n) + collide(n) + keys(n) + writes(n);
  register long a0 __asm__("a0") = 0, a7 __asm__("a7") = 93;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a7));
  for (;;)
    ;
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
