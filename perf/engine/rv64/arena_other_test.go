//go:build !(linux && amd64)

package rv64

// cutArena does nothing: there is no translator.
func cutArena(*jit, int) {}
