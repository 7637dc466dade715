// Numbers in a table of chains that doubles when it is full. Its lists of chains come from the
// heap while they are small, and nodes use them again; from 128 KiB on malloc maps them.
#include <stdio.h>
#include <stdlib.h>

struct node {
	unsigned long key, count;
	struct node *next;
};

static struct node **chains;
static unsigned long size = 64, nodes;

static unsigned long place(unsigned long key, unsigned long of) { return (key * 0x9e3779b97f4a7c15ul >> 33) & (of - 1); }

static void grow(void) {
	struct node **more = calloc(2 * size, sizeof *more);
	for (unsigned long i = 0; i < size; i++)
		for (struct node *p = chains[i], *next; p; p = next) {
			unsigned long at = place(p->key, 2 * size);
			next = p->next, p->next = more[at], more[at] = p;
		}
	free(chains);
	chains = more, size *= 2;
}

static void count(unsigned long key) {
	for (struct node *p = chains[place(key, size)]; p; p = p->next)
		if (p->key == key) {
			p->count++;
			return;
		}
	if (nodes == size)
		grow();
	struct node *p = malloc(sizeof *p);
	unsigned long at = place(key, size);
	*p = (struct node){key, 1, chains[at]};
	chains[at] = p, nodes++;
}

int main(int argc, char **argv) {
	unsigned long n = atol(argv[argc - 1]), x = 12345;
	chains = calloc(size, sizeof *chains);
	for (unsigned long i = 0; i < 3 * n; i++) {
		x = x * 6364136223846793005ul + 1442695040888963407ul;
		count((x >> 33) % n);
	}
	printf("%lu\n", nodes);
	return 0;
}
