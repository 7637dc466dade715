package main

import "strings"

// random is a sequence of random numbers (xorshift64*).
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state ^= r.state >> 12
	r.state ^= r.state << 25
	r.state ^= r.state >> 27
	return r.state * 0x2545f4914f6cdd1d
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int((r.next() >> 33) * uint64(n) >> 31) }

func (r *random) one(of []string) string { return of[r.below(len(of))] }

var words = strings.Fields("amber basin cedar delta ember fjord grove harbor island jasper kelp lagoon meadow nectar opal prairie quartz river summit tundra umber valley willow zephyr")

// sentence returns some words.
func (r *random) sentence() string {
	s := make([]string, 2+r.below(7))
	for i := range s {
		s[i] = r.one(words)
	}
	return strings.Join(s, " ")
}
