//go:build linux && amd64

package native

// The engine's own memory in the program's address space, far from where the
// kernel and compilers put code and data. It is one file in memory that is mapped
// twice: into the program here, into the engine as a whole.
//
//	engineBase ─ gadget page: system calls that the engine makes for the program
//	statesAt   ─ a slot for each thread: a page of state, then the jump tables
//	buffersAt  ─ buffers for recording, each followed by a hole
//	ringAt     ─ one small buffer, mapped over and over, followed by a hole
//
// Code zones lie near the modules whose code they hold: see zone.
const (
	engineBase = 0x7fe0_0000_0000
	gadgetAt   = engineBase
	statesAt   = engineBase + 1<<30
	buffersAt  = engineBase + 4<<30
	ringAt     = engineBase + 8<<30
	masterAt   = engineBase + 12<<30 // the whole file, inaccessible, to map parts from
	engineEnd  = engineBase + 16<<30

	missAt   = gadgetAt + 8  // a breakpoint: an indirect jump to an unknown target
	mapperAt = gadgetAt + 16 // maps the engine's memory: see mapper

	pageBytes = 4096

	stateStride = 2 << 20
	maxThreads  = 512

	// All buffers together stay in a second-level cache of 2 MiB beside what the program
	// has there: a record that misses it costs more than the instructions it records.
	bufferBytes  = 512 << 10
	bufferStride = bufferBytes + 1<<20
	buffers      = 2  // while threads run one at a time; at least 2: see renew
	maxBuffers   = 20 // while they run at the same time

	ringBytes = 256 << 10 // of memory
	ringTimes = 64        // mapped so often
	firstRoom = 1 << 20   // of the ring that a program gets at first, then four times as much

	zoneBytes = 64 << 20
	maxZones  = 12
)

// Offsets in the file.
const (
	fileGadget  = 0
	fileTables  = pageBytes
	fileReturns = fileTables + tables*tableBytes
	fileStates  = fileReturns + returnBytes
	fileBuffers = fileStates + maxThreads*pageBytes
	fileRing    = fileBuffers + maxBuffers*bufferBytes
	fileZones   = fileRing + ringBytes
	fileBytes   = fileZones + maxZones*zoneBytes
)

// A thread's slot: the state, to which GS points, then the jump tables and the table of
// return addresses.
const (
	tableSlots = 1 << 16
	tableBytes = 8 * tableSlots
	tables     = 2 // of the two caches

	returnSlots = 1 << 12 // of the table of return addresses
	returnBytes = 8 * returnSlots
)

// Offsets from GS.
const (
	gsRegister = 0   // 16 saved registers
	gsBuffer   = 128 // position in the buffer
	gsRcx      = 136
	gsRax      = 144
	gsCredit   = 168 // 8 bytes for each instruction that loops may yet execute, negative
	gsStackEnd = 176 // where the thread's stack ends
	gsCopy     = 512 // room for arguments of system calls
	gsTables   = pageBytes
	gsReturns  = gsTables + tables*tableBytes
)

func stateAddr(slot int) uint64 { return statesAt + uint64(slot)*stateStride }
