/* Counts keys in a table with open addressing, which doubles when it is half full: its memory
   grows in steps. */
#include <stdlib.h>

struct slot {
	unsigned key, count;
};

static struct slot *table;
static unsigned room, used;

__attribute__((noinline)) static struct slot *find(unsigned key)
{
	unsigned i = key * 2654435761u & (room - 1);
	while (table[i].key && table[i].key != key)
		i = (i + 1) & (room - 1);
	return &table[i];
}

__attribute__((noinline)) static void grow(void)
{
	struct slot *old = table;
	unsigned before = room;
	room = before ? 2 * before : 32;
	table = calloc(room, sizeof *table);
	for (unsigned i = 0; i < before; i++)
		if (old[i].key)
			*find(old[i].key) = old[i];
	free(old);
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	unsigned seed = 1;
	for (int i = 0; i < 20 * n; i++) {
		if (2 * (used + 1) > room)
			grow();
		seed = seed * 1664525u + 1013904223u;
		struct slot *s = find((seed >> 6) % n + 1);
		if (!s->key) {
			s->key = (seed >> 6) % n + 1;
			used++;
		}
		s->count++;
	}
	return used == 0;
}
