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

// kernelMode says what cells may import.
type kernelMode int

const (
	pinnedKernel kernelMode = iota // packages of modules that go.mod lists, offline
	openKernel                     // any
)

// suffix returns what the name of a kernel of the mode ends in.
func (m kernelMode) suffix() string {
	if m == openKernel {
		return "-open"
	}
	return ""
}

// kernelSpec is Jupyter's kernel specification.
type kernelSpec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

// startScript starts the kernel: $0 is gonb, $1 Jupyter's connection file, $2
// the folder of the go command, $3 the clone of Presage that installed the kernel.
// It runs in the notebook's folder.
//
// goimports is beside gonb, so gonb's folder goes first on PATH; the go command's
// goes last, for a Jupyter started from a desktop, which lacks a shell's PATH. The
// workspace in which cells are compiled is the module that encloses the notebook,
// and, unless that is itself a clone of Presage, the clone that installed the
// kernel, if it is still there: notebooks anywhere can import Presage.
// -raw_error makes a failed cell report text, which nbcheck and people without
// a browser can read.
const startScript = `PATH="${0%/*}:$PATH:$2"; export PATH; ` +
	`m=$(go env GOMOD); w=; c="$3"; ` +
	`case "$m" in */go.mod) w="${m%/go.mod}"; if grep -qx 'module ` + modulePath + `' "$m"; then c=; fi;; esac; ` +
	`if [ -n "$c" ] && [ -f "$c/go.mod" ]; then w="${w:+$w,}$c"; fi; ` +
	`exec "$0" --kernel "$1" -raw_error ${w:+"-go_work=$w"}`

// undebugged are flags of the go command that leave out what debuggers read: without it,
// cells and what they import are compiled with a seventh less processor time.
const undebugged = "-ldflags=-s -gcflags=all=-dwarf=false"

// modulePath is Presage's module.
const modulePath = "presage"

// newKernelSpec returns the specification of the kernel that runs gonb, with the go
// command in goDir, for a clone of Presage. In an open kernel cells may import
// modules that no go.mod lists, which are fetched.
func newKernelSpec(gonb, goDir, clone string, mode kernelMode) kernelSpec {
	spec := kernelSpec{
		Argv:          []string{"/bin/sh", "-c", startScript, gonb, "{connection_file}", goDir, clone},
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
			"GOFLAGS": "-mod=readonly -buildvcs=false " + undebugged,
			// As the kernel itself is built (build); nothing that go.mod lists needs cgo.
			"CGO_ENABLED": "0",
			// Not empty: `go env -w GOWORK=off` overrides an empty variable.
			"GOWORK": "auto",
		},
	}
	if mode == openKernel {
		spec.DisplayName = "Go (Presage, other modules too)"
		spec.Env["GOFLAGS"] = "-buildvcs=false " + undebugged
		delete(spec.Env, "GOPROXY")
		delete(spec.Env, "CGO_ENABLED")
	}
	return spec
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
