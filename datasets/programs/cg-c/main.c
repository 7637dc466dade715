#include "cg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, FAILED, USAGE };

/* parameter is a flag that is followed by an integer. */
typedef struct {
	const char *name;
	long value, least, most;
} parameter;

/* parse reads the command line. It returns false after it has printed why not. */
static bool parse(int argc, char **argv, parameter *parameters, int count, bool *quiet)
{
	for (int a = 1; a < argc; a++) {
		parameter *p = NULL;
		char *end;
		if (strcmp(argv[a], "-quiet") == 0) {
			*quiet = true;
			continue;
		}
		for (int i = 0; i < count; i++)
			if (strcmp(argv[a], parameters[i].name) == 0)
				p = &parameters[i];
		if (!p) {
			fprintf(stderr, "cg: unexpected argument \"%s\"\n", argv[a]);
			return false;
		}
		if (a + 1 == argc) {
			fprintf(stderr, "cg: flag needs an argument: %s\n", p->name);
			return false;
		}
		errno = 0;
		p->value = strtol(argv[++a], &end, 10);
		if (errno || end == argv[a] || *end) {
			fprintf(stderr, "cg: invalid value \"%s\" for flag %s\n", argv[a], p->name);
			return false;
		}
	}
	for (int i = 0; i < count; i++) {
		const parameter *p = &parameters[i];
		if (p->value < p->least || p->value > p->most) {
			fprintf(stderr, "cg: %s %ld: want an integer from %ld to %ld\n", p->name, p->value, p->least, p->most);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	parameter parameters[] = {{"-n", 40, 2, 256}, {"-iterations", 15, 1, 10000}};
	bool quiet = false;
	problem p;
	findings found;

	if (!parse(argc, argv, parameters, 2, &quiet))
		return USAGE;
	if (!allocate(&p, (int)parameters[0].value, (int)parameters[1].value)) {
		fprintf(stderr, "cg: not enough memory for -n %ld\n", parameters[0].value);
		return FAILED;
	}
	initialize(&p);
	iterate(&p);
	found = examine(&p);
	if (!quiet)
		report(&p, &found);
	if (!verify(&found))
		return FAILED;
	puts("verification: successful");
	return OK;
}
