package trace

import "fmt"

// MemoryPlan asks for Batch.Changes: what the program's memory is for, as it
// changes.
type MemoryPlan struct {
	// Allocators are the routines that give and take memory, by ascending PC
	// without repeats. A call of one from within another is part of that one: what
	// malloc does for operator new is operator new's.
	Allocators []Allocator
}

// Allocator is a routine that gives or takes memory.
type Allocator struct {
	PC   PC // of its first instruction
	Role Role
}

// Role is how a routine gives or takes memory: what its arguments and its result
// are, as those of the C library's routine of that name.
type Role uint8

// The roles of routines.
const (
	Malloc        Role = iota // (size) address; operator new is one
	Calloc                    // (count, size) address
	Realloc                   // (old, size) address
	ReallocArray              // (old, count, size) address
	AlignedAlloc              // (alignment, size) address
	PosixMemalign             // (&address, alignment, size) error
	Free                      // (address); operator delete is one
	Mmap                      // (wish, size, …) address
	Munmap                    // (address, size)
	Mremap                    // (old, old size, size, …) address
	roles
)

var roleNames = [roles]string{"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign", "free", "mmap", "munmap", "mremap"}

func (r Role) String() string {
	if r < roles {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// Asks returns how many bytes a call with these arguments asks for, and the address of the
// memory that it gives back for them, 0 if none. Mappings are of whole pages.
func (r Role) Asks(args [3]uint64) (size, old uint64) {
	const page = 4096
	pages := func(bytes uint64) uint64 { return (bytes + page - 1) &^ (page - 1) }
	switch r {
	case Malloc:
		return args[0], 0
	case Calloc:
		return args[0] * args[1], 0
	case Realloc:
		return args[1], args[0]
	case ReallocArray:
		return args[1] * args[2], args[0]
	case AlignedAlloc:
		return args[1], 0
	case PosixMemalign:
		return args[2], 0
	case Mmap:
		return pages(args[1]), 0
	case Mremap:
		return pages(args[2]), args[0]
	}
	return 0, 0
}

// ChangeKind is what happened to memory.
type ChangeKind uint8

// The kinds of changes.
const (
	Allocated ChangeKind = iota // an allocator gave Size bytes at Addr
	Freed                       // what was allocated at Addr was given back
	Unmapped                    // all that was allocated in Size bytes at Addr was
	Loaded                      // a file was loaded whose address PC lies at Addr
	Stacked                     // Size bytes at Addr are the stack of the first thread
)

// Change says what some memory is for from then on. Addresses are those of accesses.
type Change struct {
	Kind ChangeKind
	Addr uint64
	Size uint64 // bytes; of Loaded: as far as addresses keep their distance

	// More means that the change is a part of the one before it, which concerns
	// addresses that lie together in the program and not in the trace.
	More bool

	PC   PC   // of Allocated: of the allocator; of Loaded: the plan's address
	Role Role // of the allocator

	// Callers are the return addresses of the calls that led to the allocator, the
	// innermost first, as far as they are known; at most MaxCallers. They must not be
	// modified.
	Callers []PC
}

// Extent is an object, numbered from 0, and addresses that it holds, from Lo to below Hi;
// the object is -1 where there is none.
type Extent struct {
	Object int32
	Lo, Hi uint64
}

// MaxCallers bounds Change.Callers.
const MaxCallers = 24

// check returns an error if the allocators are out of order.
func (p *MemoryPlan) check() error {
	for i, a := range p.Allocators {
		if i > 0 && a.PC <= p.Allocators[i-1].PC {
			return fmt.Errorf("trace: plan allocator %d at pc %#x does not follow pc %#x", i, uint64(a.PC), uint64(p.Allocators[i-1].PC))
		}
		if a.Role >= roles {
			return fmt.Errorf("trace: plan allocator %d at pc %#x has role %d of %d", i, uint64(a.PC), a.Role, roles)
		}
	}
	return nil
}
