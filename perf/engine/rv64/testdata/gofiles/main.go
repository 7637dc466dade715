// Command gofiles opens files in /in (read only), /out (writable) and outside.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// reason returns the cause of an error, without the path.
func reason(err error) error {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	return err
}

func main() {
	cwd, _ := os.Getwd()
	fmt.Println("cwd", cwd)
	entries, err := os.ReadDir("/in")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	fmt.Print("list ", names, errText(err), "\n")
	a, err := os.ReadFile("a.txt")
	fmt.Println("read", string(a)+errText(err))
	f, _ := os.Open("/in/b.txt")
	_, _ = f.Seek(1, io.SeekStart)
	rest, err := io.ReadAll(f)
	fmt.Println("seek", string(rest)+errText(err))
	info, err := f.Stat()
	fmt.Println("size", fmt.Sprint(info.Size())+errText(err))
	_, err = os.Open("/etc/passwd")
	fmt.Println("outside", reason(err))
	_, err = os.Open(os.Args[1])
	fmt.Println("absolute", reason(err))
	_, err = os.Open("/in/link")
	if errors.Is(err, fs.ErrPermission) {
		fmt.Println("link denied")
	}
	_, err = os.Open("/in/../../etc/passwd")
	fmt.Println("dotdot", reason(err))
	fmt.Println(reason(os.WriteFile("/in/new", nil, 0o644)))
	w, _ := os.Create("/out/file")
	n, _ := fmt.Fprint(w, "hello ", "world")
	_ = w.Close()
	fmt.Println("wrote", n)
	_ = os.Rename("/out/file", "/out/kept")
	kept, _ := os.ReadFile("/out/kept")
	fmt.Println("renamed", string(kept))
	_ = os.WriteFile("/out/gone", kept, 0o600)
	_ = os.Remove("/out/gone")
	_, err = os.Stat("/out/gone")
	fmt.Println("removed", reason(err))
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
}
