package ssh

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/campaign/internal/squares"
	"presage/perf/internal/oracle"
	"presage/perf/store"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "work" && os.Getenv("OF_SETUP") != "a b" {
		fmt.Fprintf(os.Stderr, "without the setup: %q\n", os.Getenv("OF_SETUP"))
		os.Exit(1)
	}
	os.Exit(squares.Main(os.Args, os.Stdin, os.Stdout, os.Stderr, m.Run))
}

// server is an sshd on this machine.
type server struct {
	*exec.Cmd
	port string
}

// kill kills the server and the connections that it serves, as when its machine loses
// power.
func (s *server) kill() {
	children, _ := exec.Command("pgrep", "-P", fmt.Sprint(s.Process.Pid)).Output()
	s.Process.Kill()
	for pid := range strings.FieldsSeq(string(children)) {
		exec.Command("kill", "-9", pid).Run()
	}
	s.Wait()
}

// servers starts sshds with a key of their own, and returns the configuration of hosts
// a, b, … that they are.
func servers(t *testing.T, n int) ([]*server, Config) {
	t.Helper()
	sshd := oracle.Need(t, "sshd")
	oracle.Need(t, "ssh")
	dir := t.TempDir()
	for _, name := range []string{"host", "id"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	if os.Geteuid() == 0 {
		os.MkdirAll("/run/sshd", 0o755) // where sshd of Debian confines itself to before a login
	}
	var all []*server
	var config strings.Builder
	for i := range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		file := filepath.Join(dir, "sshd"+port)
		text := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\n", port, filepath.Join(dir, "host"), filepath.Join(dir, "id.pub"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &server{exec.Command(sshd, "-D", "-e", "-f", file), port}
		s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.kill)
		all = append(all, s)
		fmt.Fprintf(&config, "Host %c\nHostName 127.0.0.1\nPort %s\nIdentityFile %s\nStrictHostKeyChecking no\nUserKnownHostsFile %s\n", 'a'+i, port, filepath.Join(dir, "id"), filepath.Join(dir, "known"))
	}
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{Options: []string{"-F", file}, Setup: "export OF_SETUP='a b'\n"}
	for i := range n {
		name := string(rune('a' + i))
		c.Hosts = append(c.Hosts, Host{Name: name, Cores: 1, Memory: 1000})
		for end := time.Now().Add(time.Minute); exec.Command("ssh", "-F", file, "-o", "BatchMode=yes", name, "true").Run() != nil; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				oracle.Without(t, "sshd does not let its user in here")
			}
		}
	}
	return all, c
}

// TestHosts has jobs done by two hosts, of which one dies with a job under way: the
// other does it.
func TestHosts(t *testing.T) {
	all, config := servers(t, 2)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	st, gate := store.Open(t.TempDir()), filepath.Join(t.TempDir(), "gate")
	r := campaign.Runner{
		On:     &Executor{Config: config, Exe: exe, Args: []string{"work"}},
		Failed: func(e campaign.Ended) { t.Error(e.Label, e.Error) },
	}
	if err := r.Run(t.Context(), st, squares.Jobs(t, 6, nil), nil); err != nil {
		t.Fatal(err)
	}
	ports := squares.Check(t, st, squares.Below(6)...)
	if ports[all[0].port]+ports[all[1].port] != 6 {
		t.Errorf("done by %v, want %s and %s", ports, all[0].port, all[1].port)
	}

	second := store.Open(t.TempDir())
	done := make(chan error, 1)
	go func() {
		done <- r.Run(t.Context(), second, squares.Jobs(t, 2, func(_ int, s *squares.Spec, _ *campaign.Needs) { s.Until = gate }), nil)
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if n, _ := exec.Command("pgrep", "-f", "work "+second.Dir()).Output(); strings.Count(string(n), "\n") >= 4 || time.Now().After(end) {
			break // two workers, and the ssh of each
		}
	}
	all[0].kill()
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	squares.Check(t, second, 0, 1)
}

func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"hosts:\n  - {name: a, cores: 2, memory_mib: 100}\n": "",
		"hosts: []\n": "no hosts",
		"hosts:\n  - {name: -oProxyCommand=x, cores: 2, memory_mib: 100}\n": "-oProxyCommand",
		"hosts:\n  - {name: a, memory_mib: 100}\n":                          "cores",
		"host:\n  - {name: a}\n":                                            "unknown field",
	} {
		path := filepath.Join(t.TempDir(), "hosts.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadConfig(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
