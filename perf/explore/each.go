package explore

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f with 0 to n - 1, several at a time, and returns the first error.
func each(ctx context.Context, n int, f func(int) error) error {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		once sync.Once
		err  error
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				e := ctx.Err()
				if e == nil {
					e = f(i)
				}
				if e != nil {
					once.Do(func() { err = e })
					return
				}
			}
		})
	}
	wg.Wait()
	return err
}
