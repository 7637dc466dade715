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
)

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
}
