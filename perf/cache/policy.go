package cache

import (
	"fmt"
	"strings"
)

// Replacement is the way a victim is chosen among the blocks of a set.
type Replacement uint8

// The replacement policies. Each has a row in policies, the one place that
// machine descriptions, commands and simulations consult.
const (
	LRU    Replacement = iota // evicts the block accessed longest ago
	NMRU                      // evicts any block but the one accessed last, with equal chances
	Random                    // evicts any block, with equal chances
	PLRU                      // tree pseudo-LRU: evicts a block of the half, quarter and so on of the set that was not accessed last
)

// policy describes how a replacement policy works.
type policy struct {
	name string

	// ordered keeps the blocks of a set by last access and evicts the last.
	// Otherwise all but the protected latest ones are in any order, and one of
	// them is evicted at random.
	ordered   bool
	protected uint8 // 0 or 1

	// tree keeps the ways of a set, a power of two, as leaves of a binary tree: see
	// contents.touch.
	tree bool

	// pooled is the number of places, the latest, that a large fully
	// associative level searches before its pool.
	pooled uint64
}

var policies = [...]policy{
	LRU:    {name: "LRU", ordered: true, protected: 1, pooled: 4},
	NMRU:   {name: "NMRU", protected: 1, pooled: 1},
	Random: {name: "random"},
	PLRU:   {name: "PLRU", protected: 1, tree: true},
}

// maxTreeWays is the largest number of ways under a tree policy, whose ways are searched.
const maxTreeWays = 128

// fullyAssociative returns the policy for a level of one set: of any number of ways.
func (r Replacement) fullyAssociative() Replacement {
	if policies[r].tree {
		return LRU
	}
	return r
}

// Policies returns all replacement policies.
func Policies() []Replacement {
	all := make([]Replacement, len(policies))
	for i := range all {
		all[i] = Replacement(i)
	}
	return all
}

// ParseReplacement returns the policy of the given name, in upper or lower
// case. Its error lists the names.
func ParseReplacement(name string) (Replacement, error) {
	var names []string
	for _, r := range Policies() {
		if strings.EqualFold(name, r.String()) {
			return r, nil
		}
		names = append(names, strings.ToLower(r.String()))
	}
	return 0, fmt.Errorf("replacement: %q is none of %s", name, strings.Join(names, ", "))
}

func (r Replacement) String() string {
	if int(r) < len(policies) {
		return policies[r].name
	}
	return fmt.Sprintf("Replacement(%d)", uint8(r))
}
