#include "sweep3d.h"

#include <stdio.h>

enum { OK, FAILED, USAGE };

int main(int argc, char **argv)
{
	options o;
	problem p;
	findings found;

	if (!parse(argc, argv, &o))
		return USAGE;
	if (!allocate(&p, &o)) {
		fprintf(stderr, "sweep3d: not enough memory for -n %d\n", o.n);
		return FAILED;
	}
	initialize(&p, &o);
	inner(&p);
	found = examine(&p);
	if (!o.quiet)
		report(&p, &o, &found);
	if (!verify(&p, &found))
		return FAILED;
	puts("verification: successful");
	return OK;
}
