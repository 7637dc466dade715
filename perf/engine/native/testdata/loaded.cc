// A program that loads a library while it runs (dlopen). Exceptions cross the border
// both ways: the program catches what the library throws, and the library lets through
// what the program's own routine throws when it is called back.
#ifndef LIBRARY
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#endif
#include <stdexcept>
#include <string>
#include <vector>

struct Failure : std::runtime_error {
	int code;
	Failure(int code, const std::string &text) : std::runtime_error(text), code(code) {}
};

using Callback = double (*)(double);

#ifdef LIBRARY

static int alive; // objects that are to be destroyed when an exception passes

struct Guard {
	Guard() { alive++; }
	~Guard() { alive--; }
};

extern "C" int left() { return alive; }

extern "C" double work(int n, Callback f) {
	Guard guard;
	std::vector<double> values(n);
	double sum = 0;
	for (int i = 0; i < n; i++)
		values[i] = i * 0.5;
	for (double v : values)
		sum += f(v);
	if (n % 3 == 0)
		throw Failure(n, "a multiple of three");
	if (n % 7 == 0)
		values.at(n);
	return sum;
}

#else

static double half(double x) {
	if (x > 12)
		throw x;
	return x / 2;
}

int main(int argc, char **argv) {
	int n = std::atoi(argv[1]);
	void *library = dlopen(argv[2], RTLD_NOW);
	if (!library) {
		std::puts(dlerror());
		return 1;
	}
	auto work = reinterpret_cast<double (*)(int, Callback)>(dlsym(library, "work"));
	auto left = reinterpret_cast<int (*)()>(dlsym(library, "left"));
	for (int i = 0; i < n; i++) {
		try {
			std::printf("%d: %g\n", i, work(i, half));
		} catch (const Failure &e) {
			std::printf("%d: %s (%d)\n", i, e.what(), e.code);
		} catch (const std::out_of_range &) {
			std::printf("%d: out of range\n", i);
		} catch (double x) {
			std::printf("%d: %g is too much\n", i, x);
		}
	}
	std::printf("%d left\n", left());
	return dlclose(library);
}

#endif
