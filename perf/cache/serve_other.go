//go:build !amd64

package cache

// serve is servePlain.
func (l *level) serve(out, in []transfer, shift uint) []transfer {
	return l.servePlain(out, in, shift)
}
