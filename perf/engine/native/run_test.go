//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/trace"
)

type counter struct {
	n, blocks int
	h         uint64
}

func (c *counter) Observe(b *trace.Batch) {
	c.n += len(b.Accesses)
	c.blocks += len(b.Blocks)
	for _, a := range b.Accesses {
		c.h = (c.h ^ uint64(a)) * 0x9e3779b97f4a7c15
		c.h ^= c.h >> 29
	}
	for _, a := range b.Blocks {
		c.h = (c.h ^ uint64(a)) * 0x9e3779b97f4a7c15
		c.h ^= c.h >> 29
	}
}

func TestTry(t *testing.T) {
	line := strings.Fields(os.Getenv("TRY"))
	if len(line) == 0 {
		t.Skip()
	}
	f := open(t, line[0])
	var stdout, stderr bytes.Buffer
	ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
	defer stop()
	r := engine.Request{Args: line[1:], Stdout: &stdout, Stderr: &stderr}
	out, err := Engine{}.Run(ctx, f, r)
	t.Logf("%+v %v\n%s\n%s", out, err, stdout.Bytes(), stderr.Bytes())
	if os.Getenv("TRACE") == "" {
		return
	}
	stdout.Reset()
	d, err := Engine{}.Discover(ctx, f, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d refs %d blocks, modules %+v %+v", len(d.Plan.Refs), len(d.Plan.Blocks), d.Modules, d.Outcome)
	for range 2 {
		c := &counter{}
		r.Plan, r.Sink = d.Plan, trace.NewDirect(c)
		stdout.Reset()
		out, err = Engine{}.Run(ctx, f, r)
		t.Logf("%+v %v\n%s\n%s %+v", out, err, stdout.Bytes(), stderr.Bytes(), c)
	}
}
