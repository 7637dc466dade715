// Command goflow transfers control in all the ways of Go: goroutines, panics
// and their recovery, faults that become panics, os.Exit several calls
// deep.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

type list struct {
	next  *list
	value int
}

// at returns the n-th value of the list. It faults if the list is too short.
func (l *list) at(n int) int {
	if n == 0 {
		return l.value
	}
	return l.next.at(n - 1)
}

func try(f func() int) (v int) {
	defer func() {
		if recover() != nil {
			v = -1
		}
	}()
	return f()
}

func deep(n int) {
	if n == 0 {
		panic(n)
	}
	defer func() {
		if r := recover(); r != nil {
			panic(r)
		}
	}()
	deep(n - 1)
}

func leave(n, status int) {
	defer fmt.Println("not reached")
	if n == 0 {
		os.Exit(status)
	}
	leave(n-1, status)
}

func main() {
	l := &list{&list{nil, 2}, 1}
	sum := 0
	var wg sync.WaitGroup
	results := make(chan int)
	for i := range 4 {
		wg.Go(func() {
			for k := range 20 {
				results <- try(func() int { return l.at(k % 5) }) + i
				runtime.Gosched()
			}
		})
	}
	go func() {
		wg.Wait()
		close(results)
	}()
	for v := range results {
		sum += v
	}
	sum += try(func() int { deep(4); return 1 })
	zero := len(os.Args) - 1
	sum += try(func() int { return 1 / zero })
	time.Sleep(time.Millisecond)
	leave(3, sum&1|2)
}
