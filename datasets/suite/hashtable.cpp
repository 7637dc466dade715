// A hash table with open addressing that grows by doubling: n keys are put in, looked
// up and in part removed. The number of keys is the argument.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

class Table {
public:
	Table() : slots_(new Slot[16]()), mask_(15) {}
	~Table() { delete[] slots_; }
	Table(const Table &) = delete;
	Table &operator=(const Table &) = delete;

	// put sets the value of a key, which is not 0.
	void put(uint64_t key, uint64_t value)
	{
		if (10 * (used_ + 1) > 7 * (mask_ + 1))
			grow();
		Slot *s = slot(key);
		if (s->key != key) {
			s->key = key;
			used_++;
		}
		s->value = value;
	}
	bool get(uint64_t key, uint64_t *value) const
	{
		const Slot *s = slot(key);
		if (s->key != key)
			return false;
		*value = s->value;
		return true;
	}
	// remove closes the gap, so that no search ends at it.
	void remove(uint64_t key)
	{
		Slot *s = slot(key);
		if (s->key != key)
			return;
		uint64_t gap = s - slots_, i = gap;
		for (;;) {
			i = (i + 1) & mask_;
			if (slots_[i].key == 0)
				break;
			uint64_t home = hash(slots_[i].key) & mask_;
			if (((i - home) & mask_) >= ((i - gap) & mask_)) {
				slots_[gap] = slots_[i];
				gap = i;
			}
		}
		slots_[gap] = Slot();
		used_--;
	}
	uint64_t size() const { return used_; }

private:
	struct Slot {
		uint64_t key, value;
	};
	static uint64_t hash(uint64_t k)
	{
		k ^= k >> 33;
		k *= 0xff51afd7ed558ccdu;
		return k ^ k >> 29;
	}
	Slot *slot(uint64_t key) const
	{
		uint64_t i = hash(key) & mask_;
		while (slots_[i].key != 0 && slots_[i].key != key)
			i = (i + 1) & mask_;
		return &slots_[i];
	}
	void grow()
	{
		Slot *old = slots_;
		uint64_t n = mask_ + 1;
		slots_ = new Slot[2 * n]();
		mask_ = 2 * n - 1;
		for (uint64_t i = 0; i < n; i++)
			if (old[i].key != 0)
				*slot(old[i].key) = old[i];
		delete[] old;
	}

	Slot *slots_;
	uint64_t mask_, used_ = 0;
};

static uint64_t key(uint64_t i) { return i * 0x9e3779b97f4a7c15u | 1; }

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0, wrong = 0;
	if (n < 1) {
		std::puts("usage: hashtable N");
		return 2;
	}
	Table table;
	uint64_t value;
	// Keys of even numbers alone, so that no two are equal: the lowest bit is set.
	for (int i = 0; i < n; i++)
		table.put(key(2ull * i), i);
	for (int i = 0; i < n; i += 3)
		table.remove(key(2ull * i));
	for (int i = 0; i < 2 * n; i++) {
		bool there = i < n && i % 3 != 0, found = table.get(key(2ull * i), &value);
		wrong += found != there || (found && value != static_cast<uint64_t>(i));
	}
	wrong += table.size() != static_cast<uint64_t>(n - (n + 2) / 3);
	std::printf("hashtable: n %d, wrong %d\n", n, wrong);
	return wrong != 0;
}
