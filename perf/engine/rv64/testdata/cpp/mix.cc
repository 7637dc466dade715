// Exercises a static C++ program: exceptions, containers, threads, streams.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
struct Circle : Shape {
	explicit Circle(double r) : r(r) { if (r < 0) throw std::invalid_argument("negative radius"); }
	double area() const override { return 3.141592653589793 * r * r; }
	double r;
};
struct Guard {
	explicit Guard(std::string &log) : log(log) {}
	~Guard() { log += "unwound "; }
	std::string &log;
};

static int depth(int n, std::string &log)
{
	Guard g(log);
	if (n == 0)
		throw std::out_of_range("bottom");
	return depth(n - 1, log) + 1;
}

int main()
{
	std::string log;
	try {
		depth(5, log);
	} catch (const std::exception &e) {
		std::cout << e.what() << ": " << log << "\n";
	}
	try {
		std::make_unique<Circle>(-1);
	} catch (const std::invalid_argument &e) {
		std::cout << e.what() << " " << Circle(2).area() << "\n";
	}
	std::mutex mu;
	std::condition_variable cv;
	std::atomic<long> sum{0};
	int ready = 0;
	std::vector<std::thread> pool;
	for (int id = 0; id < 6; id++)
		pool.emplace_back([&, id] {
			std::unique_lock<std::mutex> lock(mu);
			cv.wait(lock, [&] { return ready == id; });
			ready++;
			lock.unlock();
			cv.notify_all();
			for (int i = 0; i < 1000; i++)
				sum.fetch_add(i * id, std::memory_order_relaxed);
			try {
				throw id;
			} catch (int v) {
				sum += v;
			}
		});
	for (auto &t : pool)
		t.join();
	std::cout << "sum " << sum << "\n";
	std::map<std::string, std::vector<int>> index;
	std::string word;
	for (int i = 0; std::cin >> word; i++)
		index[word].push_back(i);
	for (auto &[k, v] : index)
		std::cout << k << "=" << std::accumulate(v.begin(), v.end(), 0) << " ";
	std::ostringstream s;
	s.precision(15);
	s << 1.0 / 7 << " " << std::hex << 255;
	std::cout << s.str() << std::endl;
	return static_cast<int>(index.size());
}
