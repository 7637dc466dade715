package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// setup runs the command with its own folders and returns its exit status and
// output.
func setup(t *testing.T, home string, args ...string) (int, string) {
	t.Helper()
	args = append([]string{
		"--bin", filepath.Join(home, "bin dir"), "--jupyter-data", filepath.Join(home, "jupyter"),
	}, args...)
	var out bytes.Buffer
	code := run(t.Context(), args, &out, &out)
	return code, out.String()
}

func TestInstallTwiceThenDamage(t *testing.T) {
	home := t.TempDir()
	// User settings that must have no effect.
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOARCH", "riscv64")

	if code, out := setup(t, home, "--check"); code != exitFailed || strings.Count(out, "MISSING") < 3 {
		t.Fatalf("check before: exit %d, want %d and gonb, goimports and kernel missing:\n%s", code, exitFailed, out)
	}
	code, out := setup(t, home)
	if code != 0 || strings.Count(out, "installed") != 3 {
		t.Fatalf("install: exit %d, want 0 and three files installed:\n%s", code, out)
	}
	gonb := filepath.Join(home, "bin dir", "gonb")
	// -V prints a version that gonb's authors maintain by hand, so this only checks
	// that it runs; --check reads the version from the build information.
	if out, err := exec.Command(gonb, "-V").CombinedOutput(); err != nil {
		t.Errorf("gonb -V: %v: %s", err, out)
	}
	if _, out := setup(t, home, "--check"); strings.Count(out, "ok ") < 4 {
		t.Errorf("check after install:\n%s", out)
	}
	before, _ := os.Stat(gonb)
	code, out = setup(t, home)
	if code != 0 || strings.Count(out, "up to date") != 3 {
		t.Errorf("second install: exit %d, want 0 and three files up to date:\n%s", code, out)
	}
	if after, _ := os.Stat(gonb); !os.SameFile(before, after) {
		t.Error("second install replaced gonb, though nothing changed")
	}

	spec := filepath.Join(home, "jupyter", "kernels", kernelName, kernelFile)
	if err := os.WriteFile(spec, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin dir", "goimports"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, out = setup(t, home, "--check")
	for _, want := range []string{"goimports v", "no Go program", "differs from what this version writes"} {
		if !strings.Contains(out, want) {
			t.Errorf("check after damage does not say %q:\n%s", want, out)
		}
	}
	if _, out = setup(t, home); strings.Count(out, "installed") != 2 {
		t.Errorf("repair: want two files installed:\n%s", out)
	}
	left, _ := filepath.Glob(filepath.Join(home, "*", ".*"))
	if len(left) != 0 {
		t.Errorf("temporary files left behind: %q", left)
	}
}

func TestPrintChangesNothing(t *testing.T) {
	home := t.TempDir()
	code, out := setup(t, home, "--print")
	if code != 0 || !strings.Contains(out, "github.com/janpfeifer/gonb@v0.11.3") || !strings.Contains(out, `"GOPROXY": "off"`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("--print made %v", entries)
	}
}

func TestErrors(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--module", home}, exitFailed, "is in no Go module"},
		{[]string{"--print", "--check"}, exitUsage, "print"},
		{[]string{"--nosuch"}, exitUsage, "--help"},
		{[]string{"extra"}, exitUsage, "extra"},
	} {
		if code, out := setup(t, home, c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%q: exit %d, want %d and %q:\n%s", c.args, code, c.code, c.want, out)
		}
	}
}

// TestStartScript runs the start script with a gonb that prints its arguments, in
// folders inside and outside a module, under names with spaces.
func TestStartScript(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin, module := filepath.Join(home, "b i n"), filepath.Join(home, "my module")
	inside := filepath.Join(module, "notebooks")
	for _, dir := range []string{bin, inside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string, mode os.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(module, "go.mod"), "module m\n\ngo 1.26.0\n", 0o644)
	write(filepath.Join(bin, "gonb"), "#!/bin/sh\ncommand -v goimports\nprintf '%s\\n' \"$@\"\n", 0o755)
	write(filepath.Join(bin, "goimports"), "#!/bin/sh\n", 0o755)
	goPath, err := findGo()
	if err != nil {
		t.Fatal(err)
	}

	clone := filepath.Join(home, "a clone")
	if err := os.MkdirAll(filepath.Join(clone, "notebooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(clone, "go.mod"), "module presage\n\ngo 1.26.0\n", 0o644)
	other := filepath.Join(home, "another clone")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(other, "go.mod"), "// Presage\nmodule presage\n\ngo 1.26.0\n", 0o644)

	for _, c := range []struct {
		dir, clone string
		want       []string
	}{
		{inside, clone, []string{"--kernel", "conn file", "-raw_error", "-go_work=" + module + "," + clone}},
		{home, clone, []string{"--kernel", "conn file", "-raw_error", "-go_work=" + clone}},
		{filepath.Join(clone, "notebooks"), clone, []string{"--kernel", "conn file", "-raw_error", "-go_work=" + clone}},
		{other, clone, []string{"--kernel", "conn file", "-raw_error", "-go_work=" + other}},
		{home, filepath.Join(home, "deleted"), []string{"--kernel", "conn file", "-raw_error"}},
	} {
		spec := newKernelSpec(filepath.Join(bin, "gonb"), filepath.Dir(goPath), c.clone, pinnedKernel)
		argv := slices.Clone(spec.Argv)
		argv[slices.Index(argv, "{connection_file}")] = "conn file"
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = c.dir
		// A desktop session's PATH: the go command must still be found.
		cmd.Env = append(os.Environ(), "PATH=/usr/bin:/bin", "GOFLAGS=", "GOWORK=auto")
		out, err := cmd.CombinedOutput()
		got := strings.Split(strings.TrimSpace(string(out)), "\n")
		want := append([]string{filepath.Join(bin, "goimports")}, c.want...)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("in %s: %v, got\n%q\nwant\n%q", c.dir, err, got, want)
		}
	}
}

// TestSpecEncoding checks the keys of kernel.json, which Jupyter defines.
func TestSpecEncoding(t *testing.T) {
	text, err := newKernelSpec("/b/gonb", "/g", "/c", pinnedKernel).encode()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"argv", "display_name", "language", "interrupt_mode", "env"} {
		if got[key] == nil {
			t.Errorf("kernel.json has no %q", key)
		}
	}
	if strings.Contains(string(text), `\u0026`) {
		t.Error("kernel.json escapes what people read")
	}
}

// TestOpenKernel: the second kernel has a name of its own, and lets the go command
// fetch modules.
func TestOpenKernel(t *testing.T) {
	code, out := setup(t, t.TempDir(), "--open", "--completion", "--print")
	if code != 0 || !strings.Contains(out, "presage-open/kernel.json") || strings.Contains(out, "GOPROXY") || strings.Contains(out, "-mod=readonly") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if !strings.Contains(out, "gopls  from golang.org/x/tools/gopls@"+goplsVersion) {
		t.Errorf("no gopls:\n%s", out)
	}
}
