package allocation

import (
	"slices"
	"strings"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// roles are the routines that give and take memory, by symbol. Where several names are
// one routine of the C library, the file may know it by any.
var roles = map[string]trace.Role{
	"malloc": trace.Malloc, "__libc_malloc": trace.Malloc, "__malloc": trace.Malloc,
	"valloc": trace.Malloc, "__libc_valloc": trace.Malloc, "pvalloc": trace.Malloc, "__libc_pvalloc": trace.Malloc,
	"calloc": trace.Calloc, "__libc_calloc": trace.Calloc, "__calloc": trace.Calloc,
	"realloc": trace.Realloc, "__libc_realloc": trace.Realloc, "__realloc": trace.Realloc,
	"reallocarray": trace.ReallocArray, "__libc_reallocarray": trace.ReallocArray,
	"aligned_alloc": trace.AlignedAlloc, "memalign": trace.AlignedAlloc, "__libc_memalign": trace.AlignedAlloc, "__memalign": trace.AlignedAlloc,
	"posix_memalign": trace.PosixMemalign, "__posix_memalign": trace.PosixMemalign,
	"free": trace.Free, "cfree": trace.Free, "__libc_free": trace.Free, "__free": trace.Free,
	"mmap": trace.Mmap, "mmap64": trace.Mmap, "__mmap": trace.Mmap, "__mmap64": trace.Mmap,
	"munmap": trace.Munmap, "__munmap": trace.Munmap,
	"mremap": trace.Mremap, "__mremap": trace.Mremap,
}

// Symbols of operator new and delete, without their parameters (Itanium C++ ABI,
// section 5.1.3).
var (
	news    = []string{"_Znwm", "_Znam"}
	deletes = []string{"_ZdlPv", "_ZdaPv"}
)

// roleOf returns the role of the routine of a name.
func roleOf(name string) (trace.Role, bool) {
	if _, own, joined := strings.Cut(name, "!"); joined {
		name = own
	}
	if r, ok := roles[name]; ok {
		return r, true
	}
	operator := func(prefix string) bool {
		rest, ok := strings.CutPrefix(name, prefix)
		// The size of a deleted object, an alignment, std::nothrow: no placement.
		return ok && slices.Contains([]string{"", "m", "St11align_val_t", "mSt11align_val_t", "RKSt9nothrow_t", "St11align_val_tRKSt9nothrow_t"}, rest)
	}
	switch {
	case slices.ContainsFunc(news, operator):
		return trace.Malloc, true
	case slices.ContainsFunc(deletes, operator):
		return trace.Free, true
	}
	return 0, false
}

// Large returns what to ask of a run of f to know where large objects of a Go program lie, by
// symbol: those of more than 32 KiB, which lie alone.
func Large(f *objfile.File) *trace.MemoryPlan {
	p := new(trace.MemoryPlan)
	for i := range f.Routines {
		if f.Routines[i].Name == "runtime.mallocgcLarge" {
			p.Allocators = append(p.Allocators, trace.Allocator{PC: trace.PC(f.Routines[i].Addr), Role: trace.Malloc})
		}
	}
	return p
}

// Plan returns what to ask of a run of f for a Table: its allocators, and those of the
// libraries joined with it, by symbol.
func Plan(f *objfile.File) *trace.MemoryPlan {
	p := new(trace.MemoryPlan)
	for i := range f.Routines {
		if role, ok := roleOf(f.Routines[i].Name); ok {
			p.Allocators = append(p.Allocators, trace.Allocator{PC: trace.PC(f.Routines[i].Addr), Role: role})
		}
	}
	return p
}
