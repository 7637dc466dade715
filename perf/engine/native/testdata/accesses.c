// References of every kind that a compiler or an assembler writes, without a
// library, for comparison with another tool's record of them.
#include <stdint.h>

static unsigned char bytes[4096] __attribute__((aligned(64)));
static uint64_t words[512] __attribute__((aligned(64)));
static long double extended[8];
static double grid[64][64] __attribute__((aligned(64)));
static unsigned char table[256];

static __attribute__((noinline)) uint64_t recurse(uint64_t n) { return n < 2 ? n : recurse(n - 1) + words[n & 511] + recurse(n - 2); }

static __attribute__((noinline)) void strings(void) {
	void *d = bytes + 64, *s = bytes;
	long n = 100;
	asm volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
	d = words, n = 50;
	asm volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(7L) : "memory");
	d = bytes, s = bytes + 2048, n = 60;
	bytes[2048 + 33] = 1;
	asm volatile("repe cmpsb" : "+D"(d), "+S"(s), "+c"(n)::"memory", "cc");
	d = bytes, n = 4000;
	asm volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(1L) : "memory", "cc");
	d = bytes + 800, s = bytes + 400, n = 20;
	asm volatile("std; rep movsl; cld" : "+D"(d), "+S"(s), "+c"(n)::"memory");
	d = bytes, s = bytes + 77;
	asm volatile("movsb; movsw; movsl; movsq; lodsb; stosb" : "+D"(d), "+S"(s)::"memory", "cc", "rax");
	n = 0;
	asm volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(n)::"memory");
}

static __attribute__((noinline)) void atomics(void) {
	uint64_t old = 5, lo = 0, hi = 0;
	asm volatile("lock xaddq %0, %1" : "+r"(old), "+m"(words[3]));
	asm volatile("xchgq %0, %1" : "+r"(old), "+m"(words[4]));
	asm volatile("lock cmpxchgq %1, %0" : "+m"(words[5]) : "r"(9L), "a"(7L) : "cc");
	asm volatile("lock incq %0; lock decl %0; notq %0; negq %0; shlq $3, %0; rolw %0" : "+m"(words[6])::"cc");
	asm volatile("lock cmpxchg16b %0" : "+m"(*(unsigned __int128 *)&words[8]), "+a"(lo), "+d"(hi) : "b"(1L), "c"(2L) : "cc");
	asm volatile("shldq $5, %1, %0; addq %1, %0; adcq $3, %0; sete %2; bsfq %0, %1" : "+m"(words[12]), "+r"(old), "=m"(bytes[99])::"cc");
}

static __attribute__((noinline)) void stack(void) {
	asm volatile("sub $128, %%rsp; pushq %0; popq %1; pushq $5; pushq (%%rsp); popq 8(%%rsp); popq %%rax; pushfq; popfq; pushw $3; popw %%ax;"
				 "push %%rbp; mov %%rsp, %%rbp; sub $64, %%rsp; movq $1, -8(%%rbp); leave; enter $16, $0; leave; add $128, %%rsp"
				 : "+m"(words[7]), "=m"(words[9])::"rax", "memory", "cc");
}

static __attribute__((noinline)) void floats(void) {
	for (int i = 0; i < 7; i++)
		extended[i + 1] = extended[i] * 1.5L + i;
	short control;
	asm volatile("fnstcw %0; fldcw %0; fldl %1; fstps %2; fildq %3; fistpll %3" : "=m"(control), "+m"(grid[1][1]), "+m"(grid[2][2]), "+m"(words[30]));
	asm volatile("movhps %0, %%xmm0; movlps %0, %%xmm1; movss %0, %%xmm2; movups %%xmm0, %1; movntps %%xmm1, 48+%1; movd %%xmm2, %2; pextrb $3, %%xmm0, %3"
				 : "+m"(grid[0][0]), "+m"(grid[3][2]), "+m"(words[31]), "+m"(bytes[9])::"xmm0", "xmm1", "xmm2", "memory");
}

static __attribute__((noinline)) void lookups(void) {
	for (int i = 0; i < 256; i++)
		table[i] = i * 7;
	words[33] = table[words[3] & 255];
}

static __attribute__((noinline)) void sweep(void) {
	for (int i = 1; i < 63; i++)
		for (int j = 1; j < 63; j++)
			grid[i][j] = grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] * 0.5 + grid[j][i];
	uint64_t x = 1;
	for (int i = 0; i < 3000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		words[x >> 55] += bytes[x >> 52];
		if (x >> 63)
			bytes[i] ^= x;
	}
	for (int i = 0; i < 512; i++)
		words[i] += i;
}

static __attribute__((noinline)) uint64_t indirect(void) {
	static uint64_t (*volatile calls[])(uint64_t) = {recurse, recurse};
	uint64_t s = 0;
	for (int i = 0; i < 12; i++)
		s += calls[i & 1](i);
	for (int i = 0; i < 40; i++)
		switch (i % 9) {
		case 0: s += words[1]; break;
		case 1: s ^= words[2]; break;
		case 2: s -= words[3]; break;
		case 3: s *= 3; break;
		case 4: bytes[4] = s; break;
		case 5: s += bytes[5]; break;
		case 6: words[6] = s; break;
		case 7: s = -s; break;
		default: s >>= 1;
		}
	return s;
}

#ifdef WIDE
#include <immintrin.h>
static __attribute__((noinline, target("avx2,fma"))) void wide(void) {
	__m256d v = _mm256_loadu_pd(&grid[5][1]);
	_mm256_storeu_pd(&grid[6][3], _mm256_fmadd_pd(v, v, _mm256_broadcast_sd(&grid[1][1])));
	__m256i mask = _mm256_setr_epi64x(-1, 0, -1, 0), index = _mm256_setr_epi64x(1, 200, 33, 64);
	_mm256_maskstore_pd(&grid[7][1], mask, _mm256_maskload_pd(&grid[8][1], mask));
	v = _mm256_i64gather_pd(&grid[0][0], index, 8);
	v = _mm256_add_pd(v, _mm256_i64gather_pd(&grid[2][0], index, 8));
	v = _mm256_add_pd(v, _mm256_i32gather_pd(&grid[4][0], _mm_setr_epi32(-5, 6, 7, 90), 8));
	_mm256_storeu_pd(&grid[9][3], v);
}
#endif

// The stack begins at a multiple of a page wherever the kernel puts it.
asm(".globl _start\n_start: and $-4096, %rsp\n call begin\n");

void begin(void) {
	strings();
	atomics();
	stack();
	floats();
	lookups();
	sweep();
	words[0] = indirect();
#ifdef WIDE
	wide();
#endif
	asm volatile("syscall" ::"a"(60), "D"(words[0] & 63));
}
