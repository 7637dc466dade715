package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presage/perf/internal/oracle"
)

// cluster is a Slurm cluster of two nodes on this machine: munged, mariadbd, slurmdbd,
// slurmctld and two slurmd, all of Debian, which the tests start and stop.
type cluster struct {
	dir     string
	daemons map[string]*exec.Cmd
}

// shared is the cluster of all tests. TestMain stops it.
var shared struct {
	sync.Mutex
	*cluster
	err error
}

// needCluster returns the cluster, which it starts at the first call. It skips the test
// where it cannot be started: Slurm's daemons want root.
func needCluster(t testing.TB) *cluster {
	t.Helper()
	for _, tool := range []string{"munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch"} {
		oracle.Need(t, tool)
	}
	if os.Geteuid() != 0 {
		oracle.Without(t, "Slurm's daemons start jobs as their users, which takes root, and this is not root")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = startCluster()
		if shared.err != nil {
			shared.stop()
		}
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Setenv("SLURM_CONF", shared.path("slurm.conf"))
	return shared.cluster
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func startCluster() (*cluster, error) {
	dir, err := os.MkdirTemp("", "presage-slurm-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, daemons: make(map[string]*exec.Cmd)}
	for _, step := range []func() error{c.authentication, c.database, c.configure, c.accounting, c.controller, c.nodes} {
		if err := step(); err != nil {
			return c, fmt.Errorf("%w\n%s", err, c.logs())
		}
	}
	return c, nil
}

// start starts a daemon in the foreground.
func (c *cluster) start(name string, as *syscall.Credential, path string, args ...string) error {
	out, err := os.Create(c.path(name + ".out"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.path("slurm.conf"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true}
	c.daemons[name] = cmd
	return cmd.Start()
}

// stop ends all daemons, jobs included, and removes their files.
func (c *cluster) stop() {
	if c == nil {
		return
	}
	for _, name := range []string{"n1", "n2"} {
		c.kill(name)
	}
	for name := range c.daemons {
		c.kill(name)
	}
	os.RemoveAll(c.dir)
}

// kill kills a daemon and all that it started, as when a machine loses power.
func (c *cluster) kill(name string) {
	cmd := c.daemons[name]
	if cmd == nil || cmd.Process == nil {
		return
	}
	delete(c.daemons, name)
	jobs := jobsOf(name)
	// All stop at once, so that none tells of another's end.
	syscall.Kill(cmd.Process.Pid, syscall.SIGSTOP)
	pids := []int{cmd.Process.Pid}
	for _, pid := range jobs {
		if step := parentOf(pid); step > 1 {
			syscall.Kill(step, syscall.SIGSTOP)
			pids = append(pids, step)
		}
	}
	for _, pid := range append(pids, jobs...) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Wait()
	// Steps that were just being started go on without slurmd.
	for quiet := 0; quiet < 10; quiet++ {
		for _, pid := range jobsOf(name) {
			syscall.Kill(pid, syscall.SIGKILL)
			quiet = 0
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// parentOf returns the process that started another one.
func parentOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// After the name, which may hold anything, come the state and the parent.
	_, rest, _ := strings.Cut(string(text), ") ")
	var state string
	parent := 0
	fmt.Sscan(rest, &state, &parent)
	return parent
}

// jobsOf returns the processes of jobs on a node: slurmstepd leaves the groups of slurmd.
func jobsOf(node string) (pids []int) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, f := range folders {
		env, err := os.ReadFile(filepath.Join(f, "environ"))
		if err != nil || !strings.Contains(string(env), "SLURMD_NODENAME="+node+"\x00") || !strings.Contains(string(env), "presage-slurm-") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(f)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// await calls a condition until it holds, as daemons take a while to start.
func (c *cluster) await(what string, holds func() bool) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return nil
		}
	}
	return fmt.Errorf("%s: not within two minutes", what)
}

// logs returns the ends of what the daemons wrote.
func (c *cluster) logs() string {
	var b strings.Builder
	for _, pattern := range []string{"*.out", "*.log"} {
		files, _ := filepath.Glob(c.path(pattern))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(f), strings.Join(lines[max(0, len(lines)-8):], "\n"))
		}
	}
	return b.String()
}

func (c *cluster) write(name, text string, mode os.FileMode) error {
	if err := os.WriteFile(c.path(name), []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(c.path(name), mode)
}

// run runs a client of the cluster.
func (c *cluster) run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.path("slurm.conf"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// authentication starts munged as its own user, with a key of its own.
func (c *cluster) authentication() error {
	if err := os.Chmod(c.dir, 0o755); err != nil {
		return err
	}
	dir := c.path("munge")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	key := make([]byte, 1024)
	rand.Read(key)
	if err := c.write("munge/key", string(key), 0o400); err != nil {
		return err
	}
	u, err := user.Lookup("munge")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	for _, path := range []string{dir, c.path("munge/key")} {
		if err := os.Chown(path, uid, gid); err != nil {
			return err
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	err = c.start("munged", &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, "munged", "--foreground", "--num-threads", "2",
		"--key-file", at("key"), "--socket", at("socket"), "--pid-file", at("pid"), "--log-file", at("log"), "--seed-file", at("seed"))
	if err != nil {
		return err
	}
	return c.await("munged", func() bool { _, err := os.Stat(at("socket")); return err == nil })
}

// ports returns TCP ports that are free now.
func ports(n int) (list []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		list = append(list, port)
	}
	return list, nil
}

// database starts a MariaDB of its own, for the accounting.
func (c *cluster) database() error {
	data := c.path("data")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=8M")
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	err := c.start("mariadbd", nil, "mariadbd", "--no-defaults", "--datadir="+data, "--user=root", "--skip-networking=1", "--socket="+c.path("sql"),
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", "--pid-file="+c.path("sql.pid"))
	if err != nil {
		return err
	}
	return c.await("mariadbd", func() bool { _, err := os.Stat(c.path("sql")); return err == nil })
}

// configure writes the configuration.
func (c *cluster) configure() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	p, err := ports(4)
	if err != nil {
		return err
	}
	for _, dir := range []string{"state", "spool", "spool/n1", "spool/n2"} {
		if err := os.Mkdir(c.path(dir), 0o755); err != nil {
			return err
		}
	}
	text := `ClusterName=presage
SlurmctldHost=HOST(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=DIR/munge/socket
SlurmUser=root
SlurmctldPort=` + p[0] + `
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd-%n.pid
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool/%n
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=2
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePass=DIR/munge/socket
AccountingStoragePort=` + p[1] + `
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=HOST NodeAddr=127.0.0.1 Port=` + p[2] + ` CPUs=2 RealMemory=4000
NodeName=n2 NodeHostname=HOST NodeAddr=127.0.0.1 Port=` + p[3] + ` CPUs=2 RealMemory=4000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=small Nodes=n1 MaxTime=INFINITE State=UP
`
	fill := strings.NewReplacer("DIR", c.dir, "HOST", host)
	if err := c.write("slurm.conf", fill.Replace(text), 0o644); err != nil {
		return err
	}
	return c.write("slurmdbd.conf", fill.Replace(`AuthType=auth/munge
AuthInfo=socket=DIR/munge/socket
DbdHost=localhost
DbdPort=`+p[1]+`
SlurmUser=root
LogFile=DIR/slurmdbd.log
PidFile=DIR/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
`), 0o600)
}

// accounting starts slurmdbd.
func (c *cluster) accounting() error {
	// The client library finds the socket by this variable alone.
	os.Setenv("MYSQL_UNIX_PORT", c.path("sql"))
	defer os.Unsetenv("MYSQL_UNIX_PORT")
	if err := c.start("slurmdbd", nil, "slurmdbd", "-D"); err != nil {
		return err
	}
	said := ""
	err := c.await("slurmdbd", func() bool {
		var err error
		said, err = c.run("sacctmgr", "--immediate", "add", "cluster", "presage")
		return err == nil
	})
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

func (c *cluster) controller() error {
	if err := c.start("slurmctld", nil, "slurmctld", "-D"); err != nil {
		return err
	}
	return c.await("slurmctld", func() bool { _, err := c.run("scontrol", "ping"); return err == nil })
}

func (c *cluster) nodes() error {
	for _, name := range []string{"n1", "n2"} {
		if err := c.node(name); err != nil {
			return err
		}
	}
	return nil
}

// node starts a node and waits until it takes jobs.
func (c *cluster) node(name string) error {
	if err := c.start(name, nil, "slurmd", "-D", "-N", name); err != nil {
		return err
	}
	return c.await(name, func() bool {
		state, err := c.run("sinfo", "--noheader", "--nodes="+name, "--format=%T")
		return err == nil && (strings.HasPrefix(state, "idle") && !strings.Contains(state, "*") || strings.HasPrefix(state, "mixed"))
	})
}

// queued returns how many tasks of a campaign wait or run.
func (c *cluster) queued(t *testing.T, campaign string) int {
	t.Helper()
	q, err := running(context.Background(), campaign)
	if err != nil {
		t.Fatal(err)
	}
	return len(q)
}
