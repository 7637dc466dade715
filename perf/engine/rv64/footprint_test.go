package rv64

import (
	"slices"
	"testing"

	"presage/perf/engine"
)

// TestFootprint touches pages one by one, around windows and a range that is given back:
// each is listed once, with the number of windows that had begun when it was looked at.
func TestFootprint(t *testing.T) {
	m, err := newMemory(1 << 24)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if !m.host.tells() {
		t.Skip("the host does not tell which pages it holds")
	}
	const first = 100
	if err := m.mapRange(first*pageBytes, 20*pageBytes, pageRead|pageWrite); err != nil {
		t.Fatal(err)
	}
	write := func(page uint64) {
		t.Helper()
		if !m.store32(page*pageBytes+8, 1) {
			t.Fatalf("page %d cannot be written", page)
		}
	}
	write(first) // filled before
	m.startFootprint()
	write(first)
	write(first + 2)
	if v, ok := m.load32((first + 3) * pageBytes); !ok || v != 0 {
		t.Fatal("a fresh page reads as something")
	}
	m.surveyAll()
	m.footprint.begun++
	write(first + 4)
	write(first + 10)
	m.unmapRange((first+10)*pageBytes, pageBytes)
	m.footprint.begun++
	if err := m.mapRange((first+10)*pageBytes, pageBytes, pageRead|pageWrite); err != nil {
		t.Fatal(err)
	}
	write(first + 10) // again
	write(first + 11)
	if err := m.zeroRange((first+11)*pageBytes, pageBytes); err != nil {
		t.Fatal(err)
	}
	m.surveyAll()
	want := []engine.PageRun{{First: first + 2, Count: 2}, {First: first + 4, Count: 1, Before: 2}, {First: first + 10, Count: 1, Before: 1}, {First: first + 11, Count: 1, Before: 2}}
	if got := m.footprint.pages(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestFootprintMoves: of memory that is moved, as realloc does by mremap, the pages that were
// touched are moved, and no others are touched by that.
func TestFootprintMoves(t *testing.T) {
	m, err := newMemory(1 << 24)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if !m.host.tells() {
		t.Skip("the host does not tell which pages it holds")
	}
	const from, to, n = 100, 200, 20
	m.prepareFootprint()
	m.startFootprint()
	for _, first := range []uint64{from, to} {
		if err := m.mapRange(first*pageBytes, n*pageBytes, pageRead|pageWrite); err != nil {
			t.Fatal(err)
		}
	}
	if !m.store32((from+7)*pageBytes+4, 42) {
		t.Fatal("a page cannot be written")
	}
	src, _ := m.view(from*pageBytes, n*pageBytes, pageRead)
	dst, _ := m.view(to*pageBytes, n*pageBytes, pageWrite)
	m.move(dst, src, from*pageBytes)
	m.unmapRange(from*pageBytes, n*pageBytes)
	if v, ok := m.load32((to+7)*pageBytes + 4); !ok || v != 42 {
		t.Errorf("%d, %v behind the move", v, ok)
	}
	m.surveyAll()
	want := []engine.PageRun{{First: from + 7, Count: 1}, {First: to + 7, Count: 1}}
	if got := m.footprint.pages(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
