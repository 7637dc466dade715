//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"errors"
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
	"presage/perf/trace"
)

// words are a command line: the name of a program in /usr/bin, or a path, and its
// arguments.
type words []string

// A program of a Linux distribution, with its arguments and input.
type command struct {
	line  words
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

// table is work for a database.
const table = `
CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, price REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO item SELECT i, 'kind ' || (i * 7919 % 13), i * 0.25 FROM n;
CREATE INDEX by_kind ON item(kind);
UPDATE item SET price = price * 2 WHERE id % 3 = 0;
SELECT kind, count(*), sum(price), min(id) FROM item GROUP BY kind HAVING count(*) > 5 ORDER BY 3 DESC;
SELECT a.id, b.id FROM item a JOIN item b ON a.kind = b.kind AND b.id = a.id + 13 WHERE a.price > 200 LIMIT 20;
`

// Programs of interpreters.
const (
	pythonJSON = `
import json
print(json.dumps(json.loads('{"b": [1, 2.5, null, {"c": "\u00e9"}], "a": true}'), sort_keys=True, indent=1))`
	pythonLoading = `
import ctypes
libm = ctypes.CDLL("libm.so.6")
libm.cos.restype, libm.cos.argtypes = ctypes.c_double, [ctypes.c_double]
print(libm.cos(2.0))`
	pythonComputing = `
import re
class Node:
    def __init__(self, left, right): self.left, self.right = left, right
    def depth(self): return 1 + max(n.depth() if n else 0 for n in (self.left, self.right))
def tree(n): return None if n == 0 else Node(tree(n // 2), tree((n - 1) // 2))
try:
    [][len(re.findall(r"[0-9]+", "a1b22c333"))]
except IndexError as e:
    print(e, tree(300).depth(), 3 ** 400 % 1000007, sum(1 / k for k in range(1, 3000)))`
	perlCounting = `$n{$1}++ while /(\w+)/g; END { print "$_ $n{$_}\n" for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n }`
)

// Sources for compilers, of which none includes another file.
const (
	smallC  = "double f(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"
	smallGo = "package p\n\nfunc F(a   []float64)  (s float64) {\nfor _, x := range a { s += x*x }\nreturn\n}\n"
)

// work is what programs work on.
type work struct {
	text, c, gofile, repository string
}

// prepare fills a new folder.
func prepare(t *testing.T) work {
	t.Helper()
	dir := t.TempDir()
	w := work{filepath.Join(dir, "sample.txt"), filepath.Join(dir, "small.c"), filepath.Join(dir, "small.go"), filepath.Join(dir, "repository")}
	for path, text := range map[string]string{w.text: sample(2000), w.c: smallC, w.gofile: smallGo} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := history(w.repository); err != nil {
		t.Log("no repository: ", err)
	}
	return w
}

// history makes a repository of a few commits, and a change that is not committed.
func history(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	git := func(args ...string) error {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, text)
		}
		return nil
	}
	err := git("init", "-q")
	for i := range 4 {
		text := strings.Replace(sample(100+20*i), "words", fmt.Sprint("words of ", i), 10+i)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "sample.txt"), []byte(text), 0o600))
		if i < 3 {
			err = errors.Join(err, git("add", "."), git("commit", "-q", "-m", fmt.Sprint("change ", i)))
		}
	}
	return err
}

// commands are programs of many kinds: small tools, interpreters, compilers,
// compressors, a database; in C, C++, Perl, Python and Go; with threads and with
// other processes.
func commands(w work) []command {
	const env = "/usr/bin/env"
	text := sample(2000)
	return append([]command{
		{line: words{"ls", "-la", env}},
		{line: words{"cat"}, stdin: text},
		{line: words{"sort"}, stdin: text},
		{line: words{"sort", "-n", "-r", "-k", "3"}, stdin: text},
		{line: words{"wc"}, stdin: text},
		{line: words{"head", "-n", "5", w.text}},
		{line: words{"tail", "-n", "7", w.text}},
		{line: words{"cut", "-d", " ", "-f", "1,6", w.text}},
		{line: words{"tr", "a-z", "A-Z"}, stdin: text},
		{line: words{"uniq", "-c"}, stdin: text},
		{line: words{"md5sum", w.text}},
		{line: words{"sha256sum", w.text}},
		{line: words{"sha512sum", w.text}},
		{line: words{"cksum", w.text}},
		{line: words{"base64", w.text}},
		{line: words{"od", "-x", w.text}},
		{line: words{"seq", "1", "5000"}},
		{line: words{"factor", "1234567890123456789", "600851475143"}},
		{line: words{"expr", "12345", "*", "6789"}},
		{line: words{"printf", "%s-%d\\n", "abc", "5"}},
		{line: words{"echo", "a", "b", "c"}},
		{line: words{"env"}},
		{line: words{"true"}},
		{line: words{"false"}},
		{line: words{"basename", "/a/b/c"}},
		{line: words{"fold", "-w", "17", w.text}},
		{line: words{"fmt", "-w", "30", w.text}},
		{line: words{"nl", w.text}},
		{line: words{"tac", w.text}},
		{line: words{"paste", w.text, w.text}},
		{line: words{"join", w.text, w.text}},
		{line: words{"comm", w.text, w.text}},
		{line: words{"split", "--help"}},
		{line: words{"stat", "-c", "%s", w.text}},
		{line: words{"du", "-b", w.text}},
		{line: words{"numfmt", "--to=iec", "123456789"}},
		{line: words{"grep", "-c", "[0-9]9 ", w.text}},
		{line: words{"sed", "-E", "-e", "s/line ([0-9]+)/\\1th line/g", w.text}},
		{line: words{"awk", "{ s += $1 } END { print s, NR }", w.text}},
		{line: words{"mawk", "{ print $2, length($0) }", w.text}},
		{line: words{"diff", w.text, "/etc/passwd"}},
		{line: words{"cmp", w.text, "/etc/passwd"}},
		{line: words{"find", "/etc/apt", "-name", "*.d"}},
		{line: words{"xargs", "echo"}, stdin: "1\n2\n3\n"},
		{line: words{"bash", "-c", "for ((i = 0; i < 300; i++)); do ((s += i)); done; echo $s | cat"}},
		{line: words{"dash", "-c", "echo $((6 * 7)) $(echo x)"}},
		{line: words{"gzip", "-c", w.text}},
		{line: words{"xz", "-c", "-1", w.text}},
		{line: words{"xz", "-c", "-6", "-T2", w.text}, slow: true},
		{line: words{"bzip2", "-c", w.text}},
		{line: words{"zstd", "-c", "-q", w.text}},
		{line: words{"tar", "-cf", "-", "-C", "/", "etc/hostname"}},
		{line: words{"sort", "--parallel=4", "-S", "1M", w.text}, slow: true},
		{line: words{"openssl", "dgst", "-sha256", w.text}},
		{line: words{"bc", "-l"}, stdin: "scale=30; 4*a(1)\n"},
		{line: words{"dc"}, stdin: "2 200 ^ p\n"},
	}, languages(w)...)
}

// languages are programs that know programs: interpreters, compilers and what
// belongs to them, a database, histories of sources.
func languages(w work) []command {
	const env = "/usr/bin/env"
	list := []command{
		{line: words{"perl", "-e", "$s += $_ ** 2 for 1 .. 3000; print $s"}},
		{line: words{"perl", "-ne", perlCounting, w.text}},
		{line: words{"python3", "-S", "-c", pythonJSON}},
		{line: words{"python3", "-c", pythonLoading}},
		{line: words{"python3", "-S", "-c", pythonComputing}},
		{line: words{"python3", "-S", "-c", "import decimal; print(decimal.Decimal(2).sqrt())"}, slow: true},
		{line: words{"sqlite3", ":memory:", "select sum(1)"}},
		{line: words{"sqlite3", ":memory:"}, stdin: table},
		{line: words{"git", "hash-object", w.text}},
		{line: words{"git", "-C", w.repository, "log", "--stat", "-p"}},
		{line: words{"git", "-C", w.repository, "diff", "HEAD~1"}},
		{line: words{"git", "-C", w.repository, "blame", "HEAD", "--", "sample.txt"}},
		{line: words{"gcc", "--version"}},
		{line: words{"as", "--version"}},
		{line: words{"ld", "--version"}},
		{line: words{"objdump", "-h", env}},
		{line: words{"readelf", "-l", env}},
		{line: words{"nm", "-D", env}},
		{line: words{"strings", "-n", "20", env}},
		{line: words{"size", env}},
		{line: words{"make", "-n", "-f", "-"}, stdin: "all: b\n\techo $(words 1 2 3)\nb:\n\ttrue\n"},
		{line: words{"gcc", "-O2", "-S", "-o", "-", w.c}, slow: true},
		{line: words{"g++", "-O1", "-x", "c++", "-S", "-o", "-", w.c}, slow: true},
		{line: words{"gfortran", "--version"}},
		{line: words{"cmake", "--version"}},
	}
	compiler := func(name string) string { return answer("gcc", "-print-prog-name="+name) }
	root := answer("go", "env", "GOROOT")
	return append(list,
		command{line: words{compiler("cc1"), "-quiet", "-fpreprocessed", "-O2", w.c, "-o", "-"}},
		command{line: words{compiler("cc1plus"), "-quiet", "-fpreprocessed", "-O3", w.c, "-o", "-"}, slow: true},
		command{line: words{filepath.Join(root, "bin", "go"), "version"}},
		command{line: words{filepath.Join(root, "bin", "gofmt"), w.gofile}},
		command{line: words{filepath.Join(root, "bin", "go"), "env", "GOARCH"}, slow: true},
		command{line: words{filepath.Join(root, "pkg", "tool", "linux_amd64", "compile"), "-p", "p", "-S", "-o", "/dev/null", w.gofile}},
	)
}

// answer returns what a program says, without the end of the line; the name of the
// program if it says nothing.
func answer(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return name
	}
	return strings.TrimSpace(string(text))
}

// find returns the executable of a command.
func (c *command) find() (string, error) {
	path := c.line[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join("/usr/bin", path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		_, err = objfile.Open(path) // no script
	}
	return path, err
}

// TestDebian compares the output and the exit status of programs with those of a
// plain run: of a run that finds their code, and of one that records all of its
// references. PRESAGE_SLOW=1 adds programs that take longer.
func TestDebian(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	slow := os.Getenv("PRESAGE_SLOW") != ""
	ran, missing := 0, []string{}
	for _, c := range commands(prepare(t)) {
		if c.slow && !slow {
			continue
		}
		path, err := c.find()
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", c.line[0], err))
			continue
		}
		ran++
		t.Run(fmt.Sprintf("%s %.40s", filepath.Base(path), strings.Join(c.line[1:], " ")), func(t *testing.T) {
			t.Parallel()
			recordedAsPlain(t, path, c.line[1:], c.stdin)
		})
	}
	t.Logf("%d programs; %d are missing:\n%s", ran, len(missing), strings.Join(missing, "\n"))
	const least = 40
	if ran >= least {
		return
	}
	if _, err := os.Stat("/etc/debian_version"); err == nil {
		t.Fatalf("only %d of the programs ran, want %d", ran, least)
	}
	t.Skipf("only %d of the programs are installed, want %d", ran, least)
}

// ending is how a run ended, and what it wrote.
type ending struct {
	status         int
	output, errors string
}

// plainly runs a program without the engine.
func plainly(t *testing.T, path string, args []string, stdin string) ending {
	t.Helper()
	var out, errs bytes.Buffer
	in, err := input(strings.NewReader(stdin)) // programs ask what kind of file it is
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	plain := &exec.Cmd{Path: path, Args: append([]string{filepath.Base(path)}, args...), Env: []string{}, Stdin: in, Stdout: &out, Stderr: &errs}
	err = plain.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	status := plain.ProcessState.ExitCode()
	if ws := plain.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		status = 128 + int(ws.Signal())
	}
	return ending{status, out.String(), errs.String()}
}

// like checks that a run on the engine ends like another.
func (want ending) like(t *testing.T, args []string, stdin string, run func(context.Context, engine.Request) (*engine.Outcome, error)) *engine.Outcome {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var output, errs bytes.Buffer
	out, err := run(ctx, engine.Request{Args: args, Stdin: strings.NewReader(stdin), Stdout: &output, Stderr: &errs})
	if err != nil {
		t.Fatal(err)
	}
	if got := (ending{out.ExitCode, output.String(), errs.String()}); got != want {
		t.Errorf("exit status %d and output\n%.300q\n%.300q\nwant %d and\n%.300q\n%.300q", got.status, got.output, got.errors, want.status, want.output, want.errors)
	}
	return out
}

// sameAsPlain compares a run on the engine with one without.
func sameAsPlain(t *testing.T, path string, args []string, stdin string) {
	t.Helper()
	f := open(t, path)
	plainly(t, path, args, stdin).like(t, args, stdin, func(ctx context.Context, r engine.Request) (*engine.Outcome, error) {
		return Engine{}.Run(ctx, f, r)
	})
}

// recordedAsPlain compares a run that finds the code of a program, and one that
// records its references, with one without the engine.
func recordedAsPlain(t *testing.T, path string, args []string, stdin string) {
	t.Helper()
	f := open(t, path)
	want := plainly(t, path, args, stdin)
	var found *engine.Discovery
	want.like(t, args, stdin, func(ctx context.Context, r engine.Request) (out *engine.Outcome, err error) {
		if found, err = (Engine{}).Discover(ctx, f, r); err != nil {
			return nil, err
		}
		return found.Outcome, nil
	})
	recorded := want.like(t, args, stdin, func(ctx context.Context, r engine.Request) (*engine.Outcome, error) {
		r.Plan, r.Sink = found.Plan, trace.NewDirect()
		return Engine{}.Run(ctx, f, r)
	})
	// When a process that the program has started ends is not in the engine's hands: its
	// signal stops one system call or another, and is handled in one place or another, which
	// the run before may not have come to.
	differ, unplanned := uint64(0), 0
	if recorded.Processes > 0 {
		differ, unplanned = 1000, 100
	}
	alike := recorded.UnplannedRefs <= unplanned && max(recorded.Instructions, found.Outcome.Instructions)-min(recorded.Instructions, found.Outcome.Instructions) <= differ
	if recorded.Accesses == 0 || !alike {
		t.Errorf("%d instructions with %d accesses, and %d references that were not found before; found in a run of %d instructions", recorded.Instructions, recorded.Accesses, recorded.UnplannedRefs, found.Outcome.Instructions)
	}
}
