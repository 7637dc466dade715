#include "sweep3d.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* parameter is a flag that is followed by a number, which goes to one of two. */
typedef struct {
	const char *name;
	int *whole;
	double *real;
	double least, most;
} parameter;

/* margin returns how many cells without source lie between it and each face. */
int margin(const options *o)
{
	return o->n / 4;
}

/* on_off reads a flag without a number. It returns false if arg is none. */
static bool on_off(const char *arg, options *o)
{
	if (strcmp(arg, "-quiet") == 0)
		o->quiet = true;
	else if (strcmp(arg, "-fixup") == 0 || strcmp(arg, "-fixup=true") == 0)
		o->fixup = true;
	else if (strcmp(arg, "-fixup=false") == 0)
		o->fixup = false;
	else
		return false;
	return true;
}

/* number reads what follows a flag, and checks it. */
static bool number(const parameter *p, const char *text)
{
	char *end;
	double value;

	errno = 0;
	value = p->whole ? (double)strtol(text, &end, 10) : strtod(text, &end);
	if (errno || end == text || *end) {
		fprintf(stderr, "sweep3d: invalid value \"%s\" for flag %s\n", text, p->name);
		return false;
	}
	if (!(value >= p->least && value <= p->most)) {
		fprintf(stderr, "sweep3d: %s %s: want %s from %.4g to %.4g\n", p->name, text, p->whole ? "an integer" : "a number", p->least, p->most);
		return false;
	}
	if (p->whole)
		*p->whole = (int)value;
	else
		*p->real = value;
	return true;
}

bool parse(int argc, char **argv, options *o)
{
	const parameter parameters[] = {
		{"-n", &o->n, NULL, 2, 400},
		{"-iterations", &o->iterations, NULL, 1, 10000},
		{"-mk", &o->mk, NULL, 1, 400},
		{"-mmi", &o->mmi, NULL, 1, ANGLES},
		{"-sigt", NULL, &o->sigt, 0.01, 10},
		{"-scattering", NULL, &o->scattering, 0, 1},
		{"-anisotropy", NULL, &o->anisotropy, 0, 1.0 / 3},
	};

	*o = (options){.n = 50, .iterations = 6, .mk = 10, .mmi = 3, .sigt = 1, .scattering = 0.5, .anisotropy = 0.25, .fixup = true};
	for (int a = 1; a < argc; a++) {
		const parameter *p = NULL;
		if (on_off(argv[a], o))
			continue;
		for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
			if (strcmp(argv[a], parameters[i].name) == 0)
				p = &parameters[i];
		if (!p) {
			fprintf(stderr, "sweep3d: unexpected argument \"%s\"\n", argv[a]);
			return false;
		}
		if (a + 1 == argc) {
			fprintf(stderr, "sweep3d: flag needs an argument: %s\n", p->name);
			return false;
		}
		if (!number(p, argv[++a]))
			return false;
	}
	return true;
}
