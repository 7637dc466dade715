//go:build linux && amd64

package native

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// TestGrants checks that folders are refused with a way out, but to a confined program to
// read.
func TestGrants(t *testing.T) {
	f := compile(t, `
#include <fcntl.h>
int main(void) {
	return (open("here", O_RDONLY) >= 0) + 2 * (open("here", O_RDWR) >= 0) + 4 * (open("out", O_RDONLY) >= 0) + 8 * (open("new", O_WRONLY | O_CREAT, 0600) >= 0);
}`)
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	for _, path := range []string{filepath.Join(dir, "here"), outside} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		confined bool
		grant    engine.Grant
		want     string // in the error
	}{
		{false, engine.Grant{Guest: "/data", Host: dir}, "leave the folders out"},
		{true, engine.Grant{Guest: "/data", Host: dir, Devices: true}, "/data=/data"},
		{true, engine.Grant{Guest: dir, Host: dir, Devices: true, Write: true}, "leave :rw out"},
		{true, engine.Grant{Guest: dir, Host: dir}, ":dev"},
		{true, engine.Grant{Guest: outside, Host: outside, Devices: true}, outside + " cannot be granted (--dir): it is no folder"},
		{true, engine.Grant{Guest: dir, Host: dir, Devices: true}, ""},
	} {
		out, err := Engine{Confined: c.confined}.Run(t.Context(), f, engine.Request{Grants: []engine.Grant{c.grant}})
		switch {
		case errors.Is(err, ErrConfine):
			t.Skip(err)
		case c.want != "" && (!errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v", c, err)
		case c.want == "" && (err != nil || out.ExitCode != 1):
			t.Errorf("%+v: %+v, error %v, want exit status 1", c, out, err)
		}
	}
	missing := filepath.Join(dir, "missing")
	_, err := Engine{Confined: true}.Run(t.Context(), f, engine.Request{Grants: []engine.Grant{{Guest: missing, Host: missing, Devices: true}}})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing+" cannot be granted") {
		t.Errorf("a folder that is missing: %v", err)
	}
}

// TestUnexecutableFile checks that a program whose file may not be executed, which
// runs from a copy in memory, is recorded like any other.
func TestUnexecutableFile(t *testing.T) {
	f := compile(t, `
#include <stdio.h>
int main(int argc, char **argv) {
	static volatile int a[100];
	for (int i = 0; i < 100; i++)
		a[i] += i;
	printf("%s %d %d\n", argv[0], argc, a[99]);
}`, "-O1")
	data, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(f.Path)) // argv[0] is the same
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []*engine.Discovery
	var runs []*observed
	for _, f := range []*objfile.File{f, copied} {
		d, err := Engine{}.Discover(t.Context(), f, engine.Request{})
		if err != nil {
			t.Fatal(err)
		}
		o := new(observed)
		if _, err := (Engine{}).Run(t.Context(), f, engine.Request{Plan: d.Plan, Sink: trace.NewDirect(o)}); err != nil {
			t.Fatal(err)
		}
		found, runs = append(found, d), append(runs, o)
	}
	if !reflect.DeepEqual(found[0].Plan, found[1].Plan) {
		t.Errorf("discovered %d and %d references, or others", len(found[0].Plan.Refs), len(found[1].Plan.Refs))
	}
	if main := found[1].Modules[0]; main.Base != 0 {
		t.Errorf("the first module is %+v, not the executable at base 0", main)
	}
	if !runs[0].equal(runs[1]) {
		t.Errorf("%d accesses, and %d of the copy", len(runs[0].accesses), len(runs[1].accesses))
	}
}
