package replay

import (
	"errors"
	"fmt"
)

// refusal says why executables and runs of them cannot be replayed.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

func refuse(format string, args ...any) error {
	return &refusal{fmt.Errorf("replay: "+format, args...)}
}

// Final reports whether an error of this package will be the same as long as the
// executables, the runs and the limits are: there is no replay. Other errors may pass,
// such as that something was cancelled or that a file could not be read.
func Final(err error) bool {
	var refused *refusal
	var trouble *TroubleError
	return errors.As(err, &refused) || errors.As(err, &trouble) || errors.Is(err, ErrEnded) || errors.Is(err, ErrTooLong)
}
