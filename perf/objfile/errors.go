package objfile

import (
	"errors"
	"fmt"
)

// Reasons why a file is refused, for errors.Is.
var (
	ErrNotELF       = errors.New("not an ELF file")
	ErrArchitecture = errors.New("not for a supported machine")
	ErrKind         = errors.New("not an executable")
	ErrDynamic      = errors.New("dynamically linked")
	ErrTruncated    = errors.New("truncated")
	ErrMalformed    = errors.New("malformed")
	ErrTooLarge     = errors.New("too large")
)

// Error says why a file was refused.
type Error struct {
	Path string // empty for Read
	Kind error  // one of the Err variables
	Text string // what was found and what to do
}

func (e *Error) Error() string {
	if e.Path == "" {
		return "objfile: " + e.Text
	}
	return e.Path + ": " + e.Text
}

// Unwrap returns e.Kind.
func (e *Error) Unwrap() error { return e.Kind }

func refuse(kind error, format string, args ...any) error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

const (
	howToBuild = "build with gcc, gfortran or go build on this computer, or with riscv64-linux-gnu-gcc -static"
	rebuild    = "rebuild or copy it again"
)
