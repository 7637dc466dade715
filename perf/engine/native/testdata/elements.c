// Instructions whose accesses depend on masks, indices and bit numbers, at known
// offsets in an area. See TestElements.
#include <stdint.h>

unsigned char area[65536] __attribute__((aligned(4096)));
static uint32_t lanes[16] __attribute__((aligned(64))) = {~0u, 0, ~0u, 0, 0, 0, 0, ~0u};
static int32_t indices[16] __attribute__((aligned(64))) = {0, 1000, -5, 7, 70, 3, 2, 90, 11, 12, 13, 14, 15, 16, 17, 18};
static unsigned char signs[16] __attribute__((aligned(64))) = {0, 0x80, 0, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};

__attribute__((noinline)) void work(void) {
	asm volatile("btsq %1, (%0)" ::"r"(area + 1024), "r"(-200L) : "memory", "cc");
	asm volatile("btl %1, (%0)" ::"r"(area + 2048), "r"(100) : "memory", "cc");
	asm volatile("btrw %1, (%0)" ::"r"(area + 3000), "r"((short)-17) : "memory", "cc");
	long a = 0x1234500 + 77;
	asm volatile("xlatb" : "+a"(a) : "b"(area + 4096) : "memory");
	long n = 0;
	void *d = area + 6000, *s = area + 7000;
	asm volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
	asm volatile("vmovdqa %0, %%ymm1; vpmaskmovd %%ymm0, %%ymm1, (%1); vmaskmovps 64(%1), %%ymm1, %%ymm2" ::"m"(lanes), "r"(area + 8192) : "memory", "xmm0", "xmm1", "xmm2");
	asm volatile("vmovdqa %0, %%ymm1; vmovdqa %1, %%ymm2; vpgatherdd %%ymm1, 16(%2,%%ymm2,4), %%ymm3" ::"m"(lanes), "m"(indices), "r"(area + 16384) : "memory", "xmm1", "xmm2", "xmm3");
	asm volatile("movdqa %0, %%xmm1; maskmovdqu %%xmm1, %%xmm0" ::"m"(signs), "D"(area + 20480) : "memory", "xmm1");
#ifdef WIDE
	asm volatile("mov $0x8005, %%eax; kmovw %%eax, %%k1; vmovdqu32 (%0), %%zmm20%{%%k1%}; vmovdqu32 %%zmm20, 128(%0)%{%%k1%}" ::"r"(area + 24576) : "memory", "rax");
	asm volatile("vpcompressd %%zmm20, (%0)%{%%k1%}; vpexpandd 256(%0), %%zmm21%{%%k1%}%{z%}" ::"r"(area + 28672) : "memory");
	asm volatile("vmovdqa32 %0, %%zmm22; kmovw %%k1, %%k2; vpgatherdd 8(%1,%%zmm22,4), %%zmm23%{%%k2%}" ::"m"(indices), "r"(area + 32768) : "memory");
	asm volatile("mov $0x3, %%eax; kmovw %%eax, %%k2; vpscatterdd %%zmm23, (%0,%%zmm22,8)%{%%k2%}; vaddps 64(%0)%{1to16%}, %%zmm20, %%zmm21" ::"r"(area + 40960) : "memory", "rax");
	asm volatile("vmovdqu64 %%zmm20, 64(%0); vmovdqu8 (%0), %%zmm21" ::"r"(area + 49152) : "memory");
#endif
}

int main(void) {
	work();
	return 0;
}
