// References whose strides have no formula, each with the steps that the program makes by
// construction. TestObservedStrides knows these numbers.
#include <stdio.h>

enum { chains = 10, each = 100, elements = 1000, factor = 7, repeats = 3 };

struct node {
	long value;
	struct node *next;
	long rest[4];
}; // 48 bytes

static struct node pool[chains * each];
static long data[elements], forward[elements], shuffled[elements], kept[elements];
static long rows[repeats][elements + 1];
static long *row[repeats];

// Nodes of a chain lie one after the other; each chain lies before the one whose last
// node leads to it.
static struct node *link_up(void) {
	struct node *next = 0;
	for (int c = 0; c < chains; c++)
		for (int i = each - 1; i >= 0; i--) {
			struct node *n = &pool[c * each + i];
			n->value = i;
			n->next = next;
			next = n;
		}
	return next;
}

// Goes through elements by sevens, and back by 993 at the end, or at random.
static void fill(void) {
	unsigned long state = 1;
	for (long i = 0; i < elements; i++) {
		data[i] = i;
		forward[i] = i * factor % elements;
		state = state * 6364136223846793005 + 1442695040888963407;
		shuffled[i] = (state >> 33) % elements;
	}
	for (int i = 0; i < repeats; i++)
		row[i] = rows[i];
}

__attribute__((noinline)) long list(const struct node *p) {
	long sum = 0;
	for (; p; p = p->next)
		sum += p->value;
	return sum;
}

__attribute__((noinline)) long gather(const long *x, const long *index, long n) {
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += x[index[i]];
	return sum;
}

__attribute__((noinline)) long scatter(const long *x, const long *index, long n) {
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum ^= x[index[i]];
	return sum;
}

// Of every fourth element.
__attribute__((noinline)) long compress(long *to, const long *x, long n) {
	long *at = to;
	for (long i = 0; i < n; i++)
		if (x[i] % 4 == 0)
			*at++ = x[i];
	return at - to;
}

__attribute__((noinline)) long byrow(long **r, long m, long n) {
	long sum = 0;
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n; j++)
			sum += r[i][j];
	return sum;
}

#ifdef GATHER
#include <immintrin.h>

// Four elements at once, and the first of them once more by itself.
__attribute__((noinline)) long vectors(const long *x, const long *index, long n) {
	__m256i sum = _mm256_setzero_si256();
	long alone = 0;
	for (long i = 0; i < n; i += 4) {
		__m256i at = _mm256_loadu_si256((const __m256i *)(index + i));
		sum = _mm256_add_epi64(sum, _mm256_i64gather_epi64((const long long *)x, at, 8));
		alone += *(volatile const long *)&x[_mm256_extract_epi64(at, 0)];
	}
	return alone + _mm256_extract_epi64(sum, 0);
}
#endif

int main(void) {
	const struct node *head = link_up();
	fill();
	long sum = 0;
	for (int t = 0; t < repeats; t++) {
		sum += list(head) + gather(data, forward, elements) + scatter(data, shuffled, elements);
		sum += compress(kept, data, elements) + byrow(row, repeats, elements);
	}
#ifdef GATHER
	sum += vectors(data, forward, elements);
#endif
	printf("%ld\n", sum);
	return 0;
}
