// Nearest neighbours by looking at all: the records of n places, of which the ten nearest
// to each of some targets are found by computing every distance and selecting the least.
// The number of records is the argument; they are in vectors.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int targets = 16, wanted = 10;

struct Record {
	int year, month, day, hour;
	char name[16];
	float latitude, longitude;
	int speed, pressure;
};

struct Candidate {
	float distance;
	int record;
	bool operator<(const Candidate &other) const
	{
		return distance < other.distance ||
		       (distance == other.distance && record < other.record);
	}
};

struct Place {
	float latitude, longitude;
};

static float distance(const Record &r, Place p)
{
	float across = r.latitude - p.latitude, along = r.longitude - p.longitude;
	return std::sqrt(across * across + along * along);
}

static uint64_t seed = 7;

static float uniform(float below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return static_cast<float>(seed >> 40) / 16777216.0f * below;
}

static std::vector<Record> make(int n)
{
	std::vector<Record> records;
	for (int i = 0; i < n; i++) {
		Record r = {1950 + i % 60, 1 + i % 12, 1 + i % 28, i % 4 * 6, "", 0, 0, 0, 0};
		std::snprintf(r.name, sizeof r.name, "%c%c", 'A' + i % 26, 'a' + i / 26 % 26);
		r.latitude = uniform(70);
		r.longitude = uniform(360);
		r.speed = i % 150;
		r.pressure = 900 + i % 110;
		records.push_back(r);
	}
	return records;
}

// nearest returns the least of candidates for a place, in order.
static std::vector<Candidate> nearest(const std::vector<Record> &records,
                                      std::vector<Candidate> &candidates, Place place)
{
	candidates.clear();
	for (size_t i = 0; i < records.size(); i++)
		candidates.push_back({distance(records[i], place), static_cast<int>(i)});
	auto end = candidates.begin() + wanted;
	std::nth_element(candidates.begin(), end, candidates.end());
	std::sort(candidates.begin(), end);
	return {candidates.begin(), end};
}

// right reports whether no record but those found is nearer than the last of them.
static bool right(const std::vector<Record> &records, const std::vector<Candidate> &found,
                  Place place)
{
	const Candidate &last = found.back();
	int nearer = 0, n = static_cast<int>(records.size());
	for (int i = 0; i < n; i++) {
		float d = distance(records[i], place);
		nearer += d < last.distance || (d == last.distance && i < last.record);
	}
	for (int i = 0; i < wanted; i++)
		if (found[i].distance != distance(records[found[i].record], place) ||
		    (i > 0 && found[i].distance < found[i - 1].distance))
			return false;
	return nearer == wanted - 1;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n <= wanted) {
		std::printf("usage: nn N, more than %d\n", wanted);
		return 2;
	}
	std::vector<Record> records = make(n);
	std::vector<Candidate> candidates;
	bool ok = true;
	double sum = 0;
	for (int t = 0; t < targets; t++) {
		Place place = {uniform(70), uniform(360)};
		std::vector<Candidate> found = nearest(records, candidates, place);
		for (const Candidate &c : found)
			sum += c.distance;
		if (t % 8 == 7)
			ok = ok && right(records, found, place);
	}
	std::printf("nn: n %d, mean distance %.4f, %s\n", n, sum / targets / wanted,
	            ok ? "nearest" : "not nearest");
	return ok ? 0 : 1;
}
