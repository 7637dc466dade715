package rv64

// exit is the reason why exec returned.
type exit int

const (
	exitBudget  exit = iota // the slice's instructions are used up
	exitSyscall             // ecall; pc is the next instruction's
	exitBreak               // ebreak
	exitFenceI
	exitIllegal
	exitFetch // pc is not executable
	exitHook  // pc is that of a hook, which the thread has not passed
	exitFault // load or store: see machine.at
	exitAlign // atomic access to an unaligned address: see machine.at
)
