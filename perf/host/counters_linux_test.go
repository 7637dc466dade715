package host

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const spinVariable = "PRESAGE_HOST_SPIN"

// TestMain makes this executable a program that computes for a while, on two
// threads, for the tests that need one to measure.
func TestMain(m *testing.M) {
	if os.Getenv(spinVariable) == "" {
		os.Exit(m.Run())
	}
	done := make(chan bool)
	for range 2 {
		go func() {
			for end := time.Now().Add(60 * time.Millisecond); time.Now().Before(end); {
			}
			done <- true
		}()
	}
	<-done
	<-done
}

// TestCountersFollowAProcess demands that counters start with the program that
// this thread starts, follow its threads, and count nothing of this process. It
// uses the CPU time, which the kernel also reports independently.
func TestCountersFollowAProcess(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, err := openCounters([]event{{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}})
	if err != nil {
		t.Skipf("the kernel counts nothing here: %v", err)
	}
	defer set.close()
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); { // not to be counted
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), spinVariable+"=1")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	values, running, err := set.read()
	if err != nil || len(values) != 1 || running != 1 {
		t.Fatalf("values %v, running %v, error %v", values, running, err)
	}
	counted := time.Duration(values[0])
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	// The same time from two accounts; the process was forked before it was
	// counted.
	if diff := (counted - used).Abs(); diff > 10*time.Millisecond && diff > used/5 {
		t.Errorf("counted %v on a processor, the process says %v", counted, used)
	}
}
