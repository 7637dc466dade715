// Allocates in every way that there is, and prints each allocation: line, address, size.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

static void say(int line, void *p, size_t n) {
	char text[80];
	int length = snprintf(text, sizeof text, "%d %p %zu\n", line, p, n);
	if (write(1, text, length) != length) abort();
}

struct record { double a[5]; };

static void *volatile last;

__attribute__((noinline)) static void deeper(int n) {
	if (n > 0) {
		deeper(n - 1);
		last = nullptr;
		return;
	}
	last = malloc(40); say(__LINE__, last, 40);
}

static volatile size_t toomuch = size_t(1) << 61;

static void *worker(void *) {
	for (int i = 1; i <= 50; i++) {
		char *p = (char *)malloc(100 + i); say(__LINE__, p, 100 + i);
		memset(p, 1, i);
		if (i % 3) free(p);
	}
	return nullptr;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 100;
	double *big = (double *)malloc(1 << 20); say(__LINE__, big, 1 << 20);
	double *clear = (double *)calloc(n, 8); say(__LINE__, clear, size_t(n) * 8);
	char *grows = (char *)realloc(nullptr, 100); say(__LINE__, grows, 100);
	grows = (char *)realloc(grows, 300000); say(__LINE__, grows, 300000);
	grows = (char *)reallocarray(grows, n, 4); say(__LINE__, grows, size_t(n) * 4);
	void *aligned = aligned_alloc(256, 512); say(__LINE__, aligned, 512);
	void *posix; if (posix_memalign(&posix, 128, 1000)) return 1; say(__LINE__, posix, 1000);
	void *old = memalign(64, 200); say(__LINE__, old, 200);
	char *copy = strdup("a string to copy"); say(__LINE__, copy, 17);
	void *map = mmap(nullptr, 100000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); say(__LINE__, map, 102400);
	map = mremap(map, 100000, 300000, MREMAP_MAYMOVE); say(__LINE__, map, 303104);
	record *one = new record; say(__LINE__, one, sizeof *one);
	record *many = new record[n]; say(__LINE__, many, n * sizeof *many);
	std::vector<long> v;
	size_t had = 0;
	for (int i = 0; i < n; i++) {
		v.push_back(i); if (v.capacity() != had) say(__LINE__, v.data(), (had = v.capacity()) * 8);
	}
	std::string text(1000, 'x'); say(__LINE__, text.data(), 1001);
	for (int i = 0; i < 3 && argc < 3; i++) { // valgrind cannot throw exceptions
		try {
			last = new char[toomuch];
		} catch (const std::bad_alloc &) {
			deeper(3 + 50 * i);
		}
	}
	void *(*by)(size_t) = malloc;
	void *indirect = by(n); say(__LINE__, indirect, n);
	for (int i = 0; i < n; i++) {
		char *p = (char *)malloc(24 + i % 5 * 16); say(__LINE__, p, 24 + i % 5 * 16);
		if (i % 4) free(p);
	}
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], nullptr, worker, nullptr);
	for (int i = 0; i < 3; i++) pthread_join(t[i], nullptr);
	big[1] = clear[1] + grows[1] + one->a[0] + many[1].a[1];
	free(big), free(clear), free(grows), free(aligned), free(posix), free(old), free(copy), free(indirect);
	delete one;
	delete[] many;
	munmap(map, 300000);
	return 0;
}
