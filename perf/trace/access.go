package trace

// Access is one executed memory reference, packed so that a record is a single
// 8-byte store:
//
//	63      43 42  40 39                                  0
//	┌─────────┬──────┬─────────────────────────────────────┐
//	│   ref   │ log₂ │               address               │
//	│ 21 bits │ size │               40 bits               │
//	└─────────┴──────┴─────────────────────────────────────┘
type Access uint64

const (
	addrBits = 40
	sizeBits = 3
	refShift = addrBits + sizeBits

	// MaxRefs is the largest number of references in a plan.
	MaxRefs = 1 << (64 - refShift)

	// AddrLimit bounds the addresses that an Access can hold: 1 TiB.
	AddrLimit = 1 << addrBits
)

// Tag returns the part of an Access that is the same for every execution of a
// reference, for an engine to add the address to. size is a power of two.
func Tag(ref RefID, size uint8) Access {
	log := uint64(0)
	for s := size; s > 1; s >>= 1 {
		log++
	}
	return Access(uint64(ref)<<refShift | log<<addrBits)
}

// Ref returns the reference that was executed.
func (a Access) Ref() RefID { return RefID(a >> refShift) }

// Addr returns the address of the first byte accessed.
func (a Access) Addr() uint64 { return uint64(a) & (AddrLimit - 1) }

// Size returns the number of bytes accessed.
func (a Access) Size() uint64 { return 1 << (a >> addrBits & (1<<sizeBits - 1)) }

// Last returns the address of the last byte accessed. An access touches each
// memory block from that of Addr to that of Last: two when it straddles.
func (a Access) Last() uint64 { return a.Addr() + a.Size() - 1 }
