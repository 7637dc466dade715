package rv64

// cutArena leaves n bytes for translated code.
func cutArena(j *jit, n int) { j.arena.write = j.arena.write[:n] }
