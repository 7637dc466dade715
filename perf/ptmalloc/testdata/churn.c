/* Asks for memory and gives it back, at random but the same each time. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint32_t draw(uint32_t n) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

static size_t size(void) {
	switch (draw(10)) {
	case 0: case 1: case 2: return draw(200);
	case 3: case 4: return draw(2000);
	case 5: case 6: return draw(40000);
	case 7: return draw(200000);
	case 8: return 131072 + draw(3000000);
	}
	return 64 * draw(20);
}

enum { held = 300 };

int main(int argc, char **argv) {
	static char *at[held];
	int n = atoi(argv[1]);
	state = atoi(argv[2]);
	int aligned = argc > 3;
	for (int k = 0; k < n; k++) {
		int i = draw(held);
		if (at[i] && draw(8)) {
			free(at[i]);
			at[i] = 0;
			continue;
		}
		size_t bytes = size();
		if (at[i]) {
			if (bytes < 100000 && malloc_usable_size(at[i]) < 100000)
				at[i] = realloc(at[i], bytes ? bytes : 1);
			continue;
		}
		switch (draw(6)) {
		case 0: at[i] = calloc(1, bytes); break;
		case 1:
			if (aligned) {
				at[i] = memalign(16 << draw(8), bytes);
				break;
			}
		default: at[i] = malloc(bytes);
		}
		if (!at[i])
			return 1;
	}
	printf("%d\n", n);
	return 0;
}
