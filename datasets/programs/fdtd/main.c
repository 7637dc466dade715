#include "fdtd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *media[] = {"vacuum", "layers", "lossy"};

/* number reads an integer from least to most; it returns false otherwise. */
static bool number(const char *text, int least, int most, int *value)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < least || v > most)
		return false;
	*value = (int)v;
	return true;
}

int main(int argc, char **argv)
{
	int n = 24, steps = 40, medium = VACUUM;
	bool quiet = false, good = true;
	box b;

	for (int i = 1; i < argc && good; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "-quiet") == 0) {
			quiet = true;
			continue;
		}
		if (strcmp(argv[i], "-n") == 0)
			good = number(value, 4, 1000, &n);
		else if (strcmp(argv[i], "-steps") == 0)
			good = number(value, 4, 1000000, &steps);
		else if (strcmp(argv[i], "-medium") == 0) {
			for (medium = 0; medium < 3 && strcmp(value, media[medium]); medium++)
				;
			good = medium < 3;
		} else
			good = false;
		i++;
	}
	if (!good) {
		fprintf(stderr, "usage: fdtd [-n 4 to 1000] [-steps 4 to 1000000] [-medium vacuum|layers|lossy] [-quiet]\n");
		return 2;
	}
	if (!make(&b, n, steps, (enum medium)medium)) {
		fprintf(stderr, "fdtd: not enough memory\n");
		return 1;
	}
	run(&b);
	if (!quiet) {
		printf("fdtd: medium %s, n %d, steps %d, pulse of %d\n", media[medium], n, steps, b.pulse);
		printf("energy after the pulse %.9e, at the end %.9e, largest H %.9e\n", b.energy, b.later, b.largest);
	}
	return verify(&b, (enum medium)medium) ? 0 : 1;
}
