//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/objfile"
)

// A program of a Linux distribution, with its arguments and input.
type command struct {
	line  string
	stdin string
	slow  bool
}

// sample is text to work on: the same in every run.
func sample(lines int) string {
	var s strings.Builder
	x := uint32(1)
	for i := range lines {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&s, "%d line %d has %d words and the number %x\n", x>>24, i, x>>29, x)
	}
	return s.String()
}

// commands are programs of many kinds: small tools, interpreters, compilers,
// compressors, a database; in C, C++, Perl, Python and Go; with threads and with
// other processes.
func commands(dir string) []command {
	text := sample(2000)
	file := filepath.Join(dir, "sample.txt")
	source := filepath.Join(dir, "small.c")
	return []command{
		{line: "ls -la /usr/bin/env"},
		{line: "cat", stdin: text},
		{line: "sort", stdin: text},
		{line: "sort -n -r -k 3", stdin: text},
		{line: "wc", stdin: text},
		{line: "head -n 5 " + file},
		{line: "tail -n 7 " + file},
		{line: "cut -d _ -f 1 " + file},
		{line: "tr a-z A-Z", stdin: text},
		{line: "uniq -c", stdin: text},
		{line: "md5sum " + file},
		{line: "sha256sum " + file},
		{line: "sha512sum " + file},
		{line: "cksum " + file},
		{line: "base64 " + file},
		{line: "od -x " + file},
		{line: "seq 1 5000"},
		{line: "factor 1234567890123456789 600851475143"},
		{line: "expr 12345 * 6789"},
		{line: "printf %s-%d\\n abc 5"},
		{line: "echo a b c"},
		{line: "env"},
		{line: "true"},
		{line: "false"},
		{line: "basename /a/b/c"},
		{line: "fold -w 17 " + file},
		{line: "fmt -w 30 " + file},
		{line: "nl " + file},
		{line: "tac " + file},
		{line: "paste " + file + " " + file},
		{line: "join " + file + " " + file},
		{line: "comm " + file + " " + file},
		{line: "split --help"},
		{line: "stat -c %s " + file},
		{line: "du -b " + file},
		{line: "numfmt --to=iec 123456789"},
		{line: "grep -c [0-9]9 " + file},
		{line: "sed -e s/line/LINE/g " + file},
		{line: "awk {s+=$1}END{print(s)} " + file},
		{line: "mawk {print($2)} " + file},
		{line: "diff " + file + " /etc/passwd"},
		{line: "cmp " + file + " /etc/passwd"},
		{line: "find /etc/apt -name *.d"},
		{line: "xargs echo", stdin: "1\n2\n3\n"},
		{line: "bash -c for((i=0;i<300;i++));do((s+=i));done;echo$IFS$s"},
		{line: "dash -c echo$IFS$((6*7))"},
		{line: "gzip -c " + file},
		{line: "xz -c -1 " + file},
		{line: "bzip2 -c " + file},
		{line: "zstd -c -q " + file},
		{line: "tar -cf - -C / etc/hostname"},
		{line: "perl -e $s+=$_**2,for(1..3000);print($s)"},
		{line: "python3 -c print(sum(i*i,for,i,in,range(9)))"},
		{line: "python3 -S -c import(re)"},
		{line: "sqlite3 :memory: select(sum(1))"},
		{line: "git --version"},
		{line: "git hash-object " + file},
		{line: "gcc --version"},
		{line: "as --version"},
		{line: "ld --version"},
		{line: "objdump -h /usr/bin/env"},
		{line: "readelf -l /usr/bin/env"},
		{line: "nm -D /usr/bin/env"},
		{line: "strings -n 20 /usr/bin/env"},
		{line: "size /usr/bin/env"},
		{line: "openssl dgst -sha256 " + file},
		{line: "bc -l", stdin: "scale=30; 4*a(1)\n"},
		{line: "dc", stdin: "2 200 ^ p\n"},
		{line: "make --version"},
		{line: "gcc -O2 -S -o - " + source, slow: true},
		{line: "g++ -O1 -x c++ -S -o - " + source, slow: true},
		{line: "gfortran --version"},
		{line: "cmake --version"},
		{line: "go version"},
		{line: "gofmt -h"},
		{line: "go env GOARCH", slow: true},
		{line: "python3 -c import,json,decimal;print(json.dumps([1,2]))", slow: true},
		{line: "R --version", slow: true},
		{line: "xz -c -6 -T2 " + file, slow: true},
		{line: "sort --parallel=4 -S 1M " + file, slow: true},
	}
}

// TestDebian compares the output and the exit status of programs with those of a
// plain run. PRESAGE_SLOW=1 adds those that take longer, and a traced run of each.
func TestDebian(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sample.txt"), []byte(sample(2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small.c"), []byte("double f(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	slow := os.Getenv("PRESAGE_SLOW") != ""
	ran := 0
	for _, c := range commands(dir) {
		if c.slow && !slow {
			continue
		}
		words := strings.Fields(c.line)
		path, err := filepath.EvalSymlinks(filepath.Join("/usr/bin", words[0]))
		if err != nil {
			continue
		}
		if _, err := objfile.Open(path); err != nil {
			t.Logf("%s: %v", words[0], err)
			continue
		}
		ran++
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			sameAsPlain(t, path, words[1:], c.stdin)
		})
	}
	const least = 40
	if ran < least {
		t.Skipf("only %d of the programs are installed, want %d", ran, least)
	}
}

// sameAsPlain compares a run on the engine with one without.
func sameAsPlain(t *testing.T, path string, args []string, stdin string) {
	var want, wantErr, got, gotErr bytes.Buffer
	in, err := input(strings.NewReader(stdin)) // programs ask what kind of file it is
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	plain := &exec.Cmd{Path: path, Args: append([]string{filepath.Base(path)}, args...), Env: []string{}, Stdin: in, Stdout: &want, Stderr: &wantErr}
	err = plain.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, err := Engine{}.Run(ctx, open(t, path), engine.Request{Args: args, Stdin: strings.NewReader(stdin), Stdout: &got, Stderr: &gotErr})
	if err != nil {
		t.Fatal(err)
	}
	status := plain.ProcessState.ExitCode()
	if ws := plain.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		status = 128 + int(ws.Signal())
	}
	if out.ExitCode != status || !bytes.Equal(got.Bytes(), want.Bytes()) || !bytes.Equal(gotErr.Bytes(), wantErr.Bytes()) {
		t.Errorf("exit status %d and output\n%.300q\n%.300q\nwant %d and\n%.300q\n%.300q", out.ExitCode, got.Bytes(), gotErr.Bytes(), status, want.Bytes(), wantErr.Bytes())
	}
}
