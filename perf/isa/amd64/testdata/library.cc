// C++ for a decoder: exceptions, virtual calls, algorithms, strings.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};
struct square : shape {
	double side;
	explicit square(double s) : side(s) {}
	double area() const override { return side * side; }
};
struct disc : shape {
	double radius;
	explicit disc(double r) : radius(r) {}
	double area() const override { return 3.14159265 * radius * radius; }
};

int main(int argc, char **) {
	std::vector<std::unique_ptr<shape>> shapes;
	for (int i = 0; i < 100; i++)
		if (i % 3) shapes.push_back(std::make_unique<square>(i));
		else shapes.push_back(std::make_unique<disc>(i));
	std::map<std::string, double> sums;
	for (auto &s : shapes) sums[std::to_string(long(s->area()) % 10)] += s->area();
	std::vector<int> v(1000);
	std::iota(v.begin(), v.end(), argc);
	std::sort(v.begin(), v.end(), [](int a, int b) { return a % 97 < b % 97; });
	try {
		if (sums.size() > 5) throw std::runtime_error("many");
	} catch (const std::exception &e) {
		std::printf("%s %zu %d\n", e.what(), sums.size(), v[500]);
	}
}
