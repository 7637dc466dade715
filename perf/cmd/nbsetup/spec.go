package main

import (
	"bytes"
	"encoding/json"
)

const (
	// kernelName is the kernel recorded in a notebook's metadata. It is not
	// "gonb", so that the user's own GoNB kernel is left alone.
	kernelName = "presage"
	kernelFile = "kernel.json"
)

// kernelSpec is Jupyter's kernel specification.
type kernelSpec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

// startScript starts the kernel: $0 is gonb, $1 Jupyter's connection file, $2
// the folder of the go command. It runs in the notebook's folder.
//
// goimports is beside gonb, so gonb's folder goes first on PATH; the go command's
// goes last, for a Jupyter started from a desktop, which lacks a shell's PATH. The
// module that encloses the notebook becomes the workspace in which cells are
// compiled; outside a module there is none.
// -raw_error makes a failed cell report text, which nbcheck and people without
// a browser can read.
const startScript = `PATH="${0%/*}:$PATH:$2"; export PATH; ` +
	`m=$(go env GOMOD); w=; ` +
	`case "$m" in */go.mod) w="-go_work=${m%/go.mod}";; esac; ` +
	`exec "$0" --kernel "$1" -raw_error ${w:+"$w"}`

func newKernelSpec(gonb, goDir string) kernelSpec {
	return kernelSpec{
		Argv:          []string{"/bin/sh", "-c", startScript, gonb, "{connection_file}", goDir},
		DisplayName:   "Go (Presage)",
		Language:      "go",
		InterruptMode: "message",
		Env: map[string]string{
			// GoNB runs `go get` for every cell, which with a reachable proxy would
			// silently change the versions that go.mod pins.
			"GOPROXY": "off",
			// Cells build programs in a git clone. -buildvcs=false, because stamping
			// fails without git or if another user owns the clone, and would change
			// the program, and so the key of its stored profiles, with every commit.
			"GOFLAGS": "-mod=readonly -buildvcs=false",
			// Not empty: `go env -w GOWORK=off` overrides an empty variable.
			"GOWORK": "auto",
		},
	}
}

// encode returns the text of kernel.json.
func (s kernelSpec) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}
