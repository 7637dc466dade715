/* Keys in a table of chains: each look-up walks along a list whose length is random. */
#include <stdint.h>
#include <stdlib.h>

struct item { uint32_t key; int count; struct item *next; };

int main(int argc, char **argv)
{
	uint32_t n = argc == 2 ? atoi(argv[1]) : 0, state = 1, buckets = n / 3 + 1, found = 0;
	struct item *items = malloc(n * sizeof *items), **first = calloc(buckets, sizeof *first);

	for (uint32_t i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		items[i].key = state >> 8;
		items[i].count = 0;
		items[i].next = first[items[i].key % buckets];
		first[items[i].key % buckets] = &items[i];
	}
	state = 1;
	for (uint32_t i = 0; i < 4 * n; i++) {
		if (i % n == 0)
			state = 1;
		state = state * 1664525 + 1013904223;
		uint32_t key = state >> 8;
		for (struct item *p = first[key % buckets]; p; p = p->next)
			if (p->key == key) {
				p->count++;
				found++;
				break;
			}
	}
	return found != 4 * n;
}
