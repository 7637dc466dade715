package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asCommand makes the test binary run as the command. Its value is a file that appears
// once signals are heard.
const asCommand = "PRESAGE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "campaign" && os.Args[2] == "work" { // a pool's worker
		os.Exit(command(interruptible(context.Background())))
	}
	if ready := os.Getenv(asCommand); ready != "" {
		ctx := interruptible(context.Background())
		if err := os.WriteFile(ready, nil, 0o644); err != nil {
			panic(err)
		}
		os.Exit(command(ctx))
	}
	os.Exit(m.Run())
}

// TestSignals interrupts commands of every kind: each must end soon, with the status
// that a shell expects, and leave no child behind.
func TestSignals(t *testing.T) {
	profile := []string{"--args", "spin {n}", "--sweep", "n=1:50:1"}
	for _, test := range []struct {
		args   []string
		signal syscall.Signal
		status int
	}{
		{[]string{"run", guestFolder, "spin"}, syscall.SIGINT, 130},
		{[]string{"run", guestFolder, "spin"}, syscall.SIGTERM, 143},
		{append([]string{"profile", guestFolder, "-o", "profiles"}, profile...), syscall.SIGTERM, 143},
		{[]string{"simulate", guestFolder, "--args", "spin", "--machine", "zen4"}, syscall.SIGINT, 130},
		{[]string{"analyze", "../../../datasets/programs/bt"}, syscall.SIGINT, 130},
		{[]string{"validate", "../../../datasets/programs/bt", "--train", "n=12:40:4", "--args", "-n {n}", "--machine", "zen4", "--at", "n=60"}, syscall.SIGTERM, 143},
		{[]string{"simpoint", guestFolder, "--args", "spin"}, syscall.SIGINT, 130},
		{[]string{"calibrate", "-o", "host.yaml"}, syscall.SIGINT, 130},
		{[]string{"measure", guestFolder, "--args", "spin {n}", "--sweep", "n=1,2"}, syscall.SIGTERM, 143},
	} {
		t.Run(strings.Join(test.args[:2], " ")+" "+test.signal.String(), func(t *testing.T) {
			t.Parallel()
			interrupt(t, test.args, test.signal, test.status)
		})
	}
}

func interrupt(t *testing.T, args []string, sig syscall.Signal, want int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	temp := t.TempDir()
	ready := filepath.Join(temp, "ready")
	cmd.Env = append(os.Environ(), asCommand+"="+ready, "PRESAGE_STORE="+filepath.Join(temp, "store"), "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	time.Sleep(500 * time.Millisecond) // until it works
	start := time.Now()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait() // until nobody holds the output any more
	if status := cmd.ProcessState.ExitCode(); status != want {
		t.Errorf("status %d, want %d: %v\n%s", status, want, err, out.String())
	}
	if d := time.Since(start); d > 20*time.Second { // a second, and a machine under load
		t.Errorf("ended after %v", d)
	}
}
