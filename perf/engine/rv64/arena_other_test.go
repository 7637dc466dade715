//go:build !(linux && amd64)

package rv64

// cutArena is for systems with translated code.
func cutArena(*jit, int) {}
