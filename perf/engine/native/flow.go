//go:build linux && amd64

package native

// flow counts executions and transfers of control as a plan asks, from the records
// of blocks.
type flow struct{}

func (f *flow) block(*block) {}
