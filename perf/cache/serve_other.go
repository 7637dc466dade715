//go:build !amd64

package cache

// serve is servePlain.
func (l *level) serve(out, in []transfer, shift uint) []transfer {
	return l.servePlain(out, in, shift)
}

// ask is serve for transfers that all ask for a block of the level's own size, after no write.
func (l *level) ask(out, in []transfer) []transfer { return l.serve(out, in, 0) }
