package main

import (
	"bytes"
	"encoding/json"
)

const (
	// kernelName is what a notebook's metadata records as its kernel. It is
	// not "gonb", so that a GoNB kernel of the user's own stays as it is.
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
// the folder of the go command. It is run in the notebook's folder.
//
// goimports lies beside gonb, so gonb's folder goes first on PATH; the go
// command's goes last, for a Jupyter that was started from a desktop and has
// no PATH of a shell. The module that encloses the notebook becomes the
// workspace that cells are compiled in; outside of a module there is none.
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
			// GoNB runs `go get` for every cell, which with a proxy at hand
			// would silently move versions that go.mod pins.
			"GOPROXY": "off",
			// Cells build programs that lie in a git clone. -buildvcs=false:
			// stamping fails without git, or where another user owns the
			// clone, and would change the program, and so the key of its
			// stored profiles, with every commit.
			"GOFLAGS": "-mod=readonly -buildvcs=false",
			// Not empty: an empty variable gives way to `go env -w GOWORK=off`.
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
