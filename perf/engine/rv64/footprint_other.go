//go:build !linux

package rv64

// Which pages of a guest were touched is known on Linux alone.

func (h *hostRegion) tells() bool { return false }

func (h *hostRegion) small(_, _ uint64) {}

func (h *hostRegion) held(_ []byte, _, _ uint64) []byte { return nil }
