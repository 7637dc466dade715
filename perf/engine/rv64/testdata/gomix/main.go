// Command gomix exercises Go's runtime: goroutines, channels, maps, the
// garbage collector, panics from nil dereferences and divisions, timers,
// formatting. Its output does not depend on scheduling.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type node struct {
	left, right *node
	value       int
}

func grow(depth int) *node {
	if depth == 0 {
		return &node{value: 1}
	}
	return &node{grow(depth - 1), grow(depth - 1), depth}
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.left.sum() + n.right.sum() + n.value
}

func trees() {
	total := 0
	for range 20 {
		total += grow(12).sum()
	}
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	fmt.Println("trees", total, stats.NumGC > 0)
}

func workers() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var done atomic.Int64
	squares := make(map[int]int)
	jobs := make(chan int)
	for range 8 {
		wg.Go(func() {
			for j := range jobs {
				mu.Lock()
				squares[j] = j * j
				mu.Unlock()
				done.Add(1)
				runtime.Gosched()
			}
		})
	}
	for j := range 1000 {
		jobs <- j
	}
	close(jobs)
	wg.Wait()
	sum := 0
	for k, v := range squares {
		sum += v - k
	}
	fmt.Println("workers", len(squares), sum, done.Load())
}

func recovered(name string, f func()) {
	defer func() {
		err, _ := recover().(error)
		var rt runtime.Error
		fmt.Println(name, err, errors.As(err, &rt))
	}()
	f()
}

func panics() {
	var p *[1 << 10]int
	var m map[string]int
	zero := 0
	recovered("nil", func() { p[7] = 1 })
	recovered("map", func() { m["x"] = 1 })
	recovered("divide", func() { fmt.Println(1 / zero) })
	recovered("index", func() { fmt.Println([]int{1}[zero+3]) })
}

// spin never calls anything: only a signal can take it off the processor.
func spin(stop *atomic.Bool) (n uint64) {
	for !stop.Load() {
		n++
	}
	return n
}

func timers() {
	var stop atomic.Bool
	counted := make(chan bool)
	go func() { counted <- spin(&stop) > 0 }()
	start := time.Now()
	select {
	case <-time.After(30 * time.Millisecond):
	case <-counted:
	}
	stop.Store(true)
	fmt.Println("timers", <-counted, time.Since(start) >= 30*time.Millisecond)
}

func floats() {
	for _, x := range []float64{0, 1.0 / 3, math.Pi, 1e300, 5e-324, math.Inf(-1), math.NaN()} {
		fmt.Println(x, math.Sqrt(x), math.Sin(x), float32(x), int64(math.Float64bits(x)))
	}
	fmt.Printf("%.17g %e %x\n", math.E, math.Gamma(7.5), math.FMA(1.1, 1.1, -1.21))
}

func main() {
	trees()
	workers()
	panics()
	timers()
	floats()
	words := bufio.NewScanner(os.Stdin)
	words.Split(bufio.ScanWords)
	var list []string
	for words.Scan() {
		list = append(list, words.Text())
	}
	sort.Strings(list)
	fmt.Println(len(os.Args), os.Args[1:], strings.Join(list, ","))
	defer fmt.Println("not reached by os.Exit")
	os.Exit(7)
}
