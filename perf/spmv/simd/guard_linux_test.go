package simd

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"presage/datasets/programs/spmv/kernels"
)

// guarded returns a copy of values that ends where no memory is: a load beyond it
// faults.
func guarded[T any](t *testing.T, values []T) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := len(values) * int(unsafe.Sizeof(*new(T)))
	pages := (size + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, pages+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(mem[pages:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if size == 0 {
		return nil
	}
	copied := unsafe.Slice((*T)(unsafe.Pointer(&mem[pages-size])), len(values))
	copy(copied, values)
	return copied
}

// TestNothingIsReadBeyondTheEnd multiplies, and reads, arrays that end at a page
// which may not be read.
func TestNothingIsReadBeyondTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for r := 1; r <= kernels.Largest; r++ {
		for c := 1; c <= kernels.Largest; c++ {
			p := random(rng, r, c, 5)
			last := int32(8 * c) // the block at the end of x
			p.column = append(p.column, last)
			p.start[len(p.start)-1]++
			for range r * c {
				p.value = append(p.value, 1)
			}
			start, column, value, y, x := guarded(t, p.start), guarded(t, p.column), guarded(t, p.value), guarded(t, p.y), guarded(t, p.x)
			Sized(r, c)(start, column, value, y, x)
			Read(value, column)
		}
	}
}
