package rv64

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// TestLayout compares a layout with the addresses that a program sees.
func TestLayout(t *testing.T) {
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	source := `#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int here;
int main(void) {
	int local;
	printf("%lu %lu %lu %lu\n", (unsigned long)&here, (unsigned long)sbrk(0), (unsigned long)malloc(1 << 24), (unsigned long)&local);
	return 0;
}`
	exe := filepath.Join(t.TempDir(), "layout")
	cmd := exec.Command(gcc, "-static", "-O1", "-x", "c", "-o", exe, "-")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	request := engine.Request{Stdout: &out}
	if _, err := (Engine{}).Run(t.Context(), f, request); err != nil {
		t.Fatal(err)
	}
	l, err := Engine{}.Layout(f, request)
	if err != nil {
		t.Fatal(err)
	}
	var here, heap, mapped, local uint64
	if _, err := fmt.Sscan(out.String(), &here, &heap, &mapped, &local); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	for _, c := range []struct {
		what string
		addr uint64
		in   engine.Range
	}{{"brk", heap, l.Heap}, {"malloc", mapped, l.Mappings}, {"local", local, l.Stack}} {
		if c.addr < c.in.Lo || c.addr >= c.in.Hi {
			t.Errorf("%s at %#x is not in %#x", c.what, c.addr, c.in)
		}
	}
	vars, err := f.Variables()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, v := range vars {
		found = found || v.Name == "here" && v.Addr+l.Bias == here
	}
	if !found {
		t.Errorf("the variable at %#x is not one of the file's with bias %#x", here, l.Bias)
	}
}
