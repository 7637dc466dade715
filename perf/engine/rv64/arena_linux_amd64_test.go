package rv64

// cutArena shrinks the arena to n bytes.
func cutArena(j *jit, n int) { j.arena.write = j.arena.write[:n] }
