package perf

// Must returns v, or panics with err: for notebook cells and examples, where
// the panic is the error message.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
