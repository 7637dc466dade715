package trace

import "testing"

func TestRoleAsks(t *testing.T) {
	for role, want := range map[Role][2]uint64{
		Malloc: {5000, 0}, Calloc: {35000, 0}, Realloc: {7, 5000}, ReallocArray: {63, 5000}, AlignedAlloc: {7, 0},
		PosixMemalign: {9, 0}, Free: {0, 0}, Mmap: {4096, 0}, Munmap: {0, 0}, Mremap: {4096, 5000},
	} {
		if size, old := role.Asks([3]uint64{5000, 7, 9}); size != want[0] || old != want[1] {
			t.Errorf("%v asks for %d bytes in place of what is at %d, want %v", role, size, old, want)
		}
	}
}
