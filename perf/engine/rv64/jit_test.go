package rv64

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// collectRarely lets more garbage pile up during a fuzz target, whose machines leave
// half a megabyte each.
func collectRarely(f *testing.F) {
	before := debug.SetGCPercent(800)
	f.Cleanup(func() { debug.SetGCPercent(before) })
}

// needJIT skips the test on a host without a translator.
func needJIT(t testing.TB) {
	t.Helper()
	if !hasJIT() {
		t.Skip("needs linux/amd64 with AVX2")
	}
}

// loopImage returns a program of random instructions that runs its middle part of
// n instructions in a loop, with a call in some rounds. A wild program uses a
// random register as an address in the last round, and so probably ends in a
// fault.
func loopImage(seed uint64, n, rounds int, wild bool) []byte {
	const counter, scratch = randomOut - testData - 8, 29
	p := &randomProgram{rng: rand.New(rand.NewPCG(seed, 77)), clocks: true}
	data := make([]byte, randomOut-testData)
	values := floatOperands(p.rng)
	for i := 0; i < len(data); i += 8 {
		v := p.rng.Uint64()
		switch p.rng.IntN(3) {
		case 0:
			v = values[p.rng.IntN(len(values))]
		case 1:
			v = uint64(int64(p.rng.IntN(64)) - 32)
		}
		binary.LittleEndian.PutUint64(data[i:], v)
	}
	binary.LittleEndian.PutUint64(data[counter:], uint64(rounds))
	p.set(regBase, randomRegs)
	for i := range uint32(32) {
		p.word(wordI(opcodeFLoad, 3, i, regBase, int32(256+8*i)))
	}
	for i := range uint32(30) {
		p.word(wordI(opcodeLoad, 3, i, regBase, int32(8*i)))
	}
	p.set(regBuffer, randomBuffer+0x1000)
	if p.rng.IntN(2) == 0 {
		p.word(wordI(opcodeSystem, 5, 0, 0, csrFcsr)) // no flag raised yet
	}
	start := len(p.text)
	if p.rng.IntN(2) == 0 {
		// Where translated code runs: nearest even.
		p.word(wordI(opcodeSystem, 5, 0, 0, csrFrm))
	}
	for range n {
		p.instruction()
	}
	if p.rng.IntN(2) == 0 {
		p.word(wordI(opcodeSystem, 5, 0, 0, csrFrm)) // back to nearest even
	}
	// The buffer's end holds the counter; its middle is within an immediate.
	p.set(scratch, testData+counter)
	p.word(wordI(opcodeLoad, 3, 28, scratch, 0), wordI(opcodeImm, 0, 28, 28, -1), wordS(opcodeStore, 3, scratch, 28, 0))
	p.word(wordB(0, 28, 0, 8), wordJ(0, int32(start-len(p.text)-4)))
	if wild {
		p.word(wordI(opcodeLoad, 3, p.dst(), p.src(), p.imm()), wordS(opcodeStore, 3, p.src(), p.src(), p.imm()))
	}
	p.set(regBase, randomOut)
	for i := range uint32(31) {
		p.word(wordS(opcodeStore, 3, regBase, i, int32(8*i)), wordS(opcodeFStore, 3, regBase, i, int32(256+8*i)))
	}
	p.word(wordS(opcodeFStore, 3, regBase, 31, 256+8*31))
	p.word(wordI(opcodeSystem, 2, 5, 0, csrFcsr), wordS(opcodeStore, 3, regBase, 5, 512))
	p.finish(randomBuffer, randomOut-randomBuffer+520)
	return assemble(p.text, data, randomSize)
}

// runOutcome is the observable outcome of a run.
type runOutcome struct {
	out, err string
	result   result
	tape     *tape
	flow     *trace.Flow

	translated uint64 // of the translated run
}

func observe(t *testing.T, f *objfile.File, opt options, plan *trace.Plan) runOutcome {
	t.Helper()
	s := &tape{t: t, capacity: maxBlock}
	if plan != nil {
		opt.Plan, opt.Sink = plan, s
	}
	out, r, err := runGuest(t, f, opt)
	if r == nil {
		t.Fatal(err)
	}
	o := runOutcome{out: out, err: fmt.Sprint(err), result: *r, tape: s, flow: r.Flow}
	o.result.Elapsed, o.result.Flow = 0, nil // a pointer
	return o
}

// sameRun runs a program interpreted and translated, and compares the outcomes.
// heat is the translator's threshold.
func sameRun(t *testing.T, f *objfile.File, opt options, plan *trace.Plan, heat int) runOutcome {
	t.Helper()
	stdin := func() io.Reader { return strings.NewReader("one two three two\nfour\n") }
	opt.mode, opt.Stdin = Interpret, stdin()
	want := observe(t, f, opt, plan)
	opt.mode, opt.Stdin, opt.heat = Translate, stdin(), heat
	got := observe(t, f, opt, plan)
	want.translated, got.result.translated = got.result.translated, 0
	if got.err != want.err {
		t.Errorf("error %s, interpreted %s", got.err, want.err)
	}
	if got.out != want.out {
		for i := 0; i+8 <= min(len(got.out), len(want.out)); i += 8 {
			if got.out[i:i+8] != want.out[i:i+8] {
				t.Errorf("%s: %x, interpreted %x", randomPlace(i), got.out[i:i+8], want.out[i:i+8])
			}
		}
		t.Errorf("output of %d bytes differs from the %d interpreted", len(got.out), len(want.out))
	}
	if fmt.Sprint(got.result) != fmt.Sprint(want.result) {
		t.Errorf("result %+v, interpreted %+v", got.result, want.result)
	}
	if !reflect.DeepEqual(got.flow, want.flow) {
		t.Errorf("flow %v, interpreted %v", got.flow, want.flow)
	}
	g, w := got.tape, want.tape
	for i := range min(len(g.accesses), len(w.accesses)) {
		if g.accesses[i] != w.accesses[i] {
			t.Errorf("access %d is %#x, interpreted %#x", i, uint64(g.accesses[i]), uint64(w.accesses[i]))
			break
		}
	}
	if !slices.Equal(g.accesses, w.accesses) || !slices.Equal(g.blocks, w.blocks) || !slices.Equal(g.threads, w.threads) ||
		!slices.Equal(g.starts, w.starts) || !slices.Equal(g.ends, w.ends) {
		t.Errorf("%d accesses, %d blocks in %d batches differ from the %d, %d in %d interpreted",
			len(g.accesses), len(g.blocks), len(g.starts), len(w.accesses), len(w.blocks), len(w.starts))
	}
	return want
}

// somePlan plans about half of the references and blocks, chosen by the seed.
func somePlan(all *trace.Plan, seed uint64) *trace.Plan {
	rng := rand.New(rand.NewPCG(seed, 5))
	p := new(trace.Plan)
	for _, r := range all.Refs {
		if rng.IntN(2) == 0 {
			p.Refs = append(p.Refs, r)
		}
	}
	for _, b := range all.Blocks {
		if rng.IntN(2) == 0 {
			p.Blocks = append(p.Blocks, b)
		}
	}
	if all.Flow != nil {
		p.Flow = someFlow(all.Flow, seed)
	}
	return p
}

// TestJITRandom compares the translator with the interpreter on random programs,
// traced and untraced.
func TestJITRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	needJIT(t)
	const programs = 3000
	for part := range uint64(4) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			var executed, translated, accesses uint64
			faults := 0
			for seed := part; seed < programs && !t.Failed(); seed += 4 {
				f := readFile(t, loopImage(seed, 5+int(seed%60), 6, seed%5 == 0))
				var plan *trace.Plan
				switch seed % 3 {
				case 0:
					plan = planAll(f)
					plan.Flow = everyTransfer(f)
				case 1:
					plan = somePlan(planAll(f), seed)
				}
				got := sameRun(t, f, options{Request: engine.Request{Memory: minMemory}}, plan, 1+int(seed%3))
				executed += got.result.Instructions
				translated += got.translated
				accesses += got.result.Accesses
				if got.result.Signal == sigSEGV {
					faults++
				}
				if t.Failed() {
					t.Logf("program %d", seed)
				}
			}
			t.Logf("%d instructions, %d in translated blocks, %d accesses, %d faults", executed, translated, accesses, faults)
			if !t.Failed() && (translated < executed/3 || accesses < programs || faults < programs/100) {
				t.Errorf("the programs do too little")
			}
		})
	}
}

// FuzzJIT compares the translator with the interpreter on random programs whose
// seed, length and kind the fuzzer chooses. They are short: what there is to find in a
// long one is in several short ones, of which many more are tried. Each still takes two
// machines: a third of the time, which CONTRIBUTING.md divides.
func FuzzJIT(f *testing.F) {
	collectRarely(f)
	f.Add(uint64(1), uint8(20), uint8(3), true, false, false)
	f.Add(uint64(2), uint8(60), uint8(9), false, true, true)
	f.Add(uint64(3), uint8(62), uint8(7), true, false, true)
	f.Add(uint64(4), uint8(200), uint8(0), true, false, false)
	f.Fuzz(func(t *testing.T, seed uint64, n, rounds uint8, traced, wild, flow bool) {
		needJIT(t)
		var image []byte
		switch {
		case n >= 192: // loops of one block
			image = stripImage(seed)
		case flow && !wild:
			image = flowImage(seed, 2+int(n%32), 1+20*int(rounds%4))
		default:
			image = loopImage(seed, 1+int(n%32), 1+int(rounds%4), wild)
		}
		file := readFile(t, image)
		plan := new(trace.Plan)
		if traced {
			plan = planAll(file)
		}
		if flow {
			plan.Flow = someFlow(everyTransfer(file), seed)
		} else if !traced {
			plan = nil
		}
		sameRun(t, file, options{Request: engine.Request{Memory: minMemory}}, plan, 1+int(seed%4))
	})
}

// TestJITPrograms compares the translator with the interpreter on compiled
// programs: with threads, signals and a garbage collector, traced and untraced,
// translating at once and when hot.
func TestJITPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	needJIT(t)
	for _, p := range programs() {
		if !slices.Contains([]string{"go", "c-O3-rv64gc_zba_zbb_zbs", "cpp-O0-rv64gc", "fortran-O3-rv64gc"}, p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f, err := objfile.Open(p.build(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, heat := range []int{1, 0} {
				sameRun(t, f, options{Request: engine.Request{Args: p.argv}}, nil, heat)
			}
			// Every record is kept, so end the run early.
			sameRun(t, f, options{Request: engine.Request{MaxInstructions: 3e6}}, planAll(f), 0)
			some := planAll(f)
			some.Flow = everyTransfer(f)
			sameRun(t, f, options{Request: engine.Request{MaxInstructions: 3e6}}, somePlan(some, 1), 2)
		})
	}
}

// TestJITArenaFull runs a program whose translations do not fit into the arena.
func TestJITArenaFull(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	needJIT(t)
	f := readFile(t, loopImage(3, 60, 2000, false))
	want, r, err := runGuest(t, f, options{mode: Interpret})
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{200, 1 << 10, 4 << 10, 8 << 10} {
		var out bytes.Buffer
		m, err := newMachine(f, options{Request: engine.Request{Stdout: &out}, mode: Translate, heat: 1})
		if err != nil {
			t.Fatal(err)
		}
		cutArena(m.jit, m.jit.base+room)
		err = m.run(t.Context())
		if err != nil || out.String() != want || m.executed() != r.Instructions {
			t.Errorf("%d bytes for code: %d instructions, interpreted %d; same output %v: %v", room, m.executed(), r.Instructions, out.String() == want, err)
		}
		m.close()
	}
}

// TestJITPreemption ends runs at many instruction counts: the translator must stop
// at the same transfer of control as the interpreter.
func TestJITPreemption(t *testing.T) {
	needJIT(t)
	for seed := range uint64(5) {
		var translated uint64
		f := readFile(t, loopImage(seed, 40, 50, false))
		for limit := uint64(1); limit < 800; limit += 1 + limit%3 {
			got := sameRun(t, f, options{Request: engine.Request{MaxInstructions: limit, Memory: minMemory}}, nil, 1)
			if t.Failed() {
				t.Fatalf("program %d, limit %d: %+v", seed, limit, got.result)
			}
			translated += got.translated
		}
		if translated == 0 {
			t.Errorf("program %d was not translated", seed)
		}
	}
}

// TestNoWritableCode looks for mappings that are writable and executable while
// translated code runs.
func TestNoWritableCode(t *testing.T) {
	needJIT(t)
	var a asm
	loop(&a)
	calls, code := 0, 0
	_, _, err := runGuest(t, readFile(t, assemble(a.text, nil, pageBytes)), options{Request: engine.Request{MaxInstructions: progressEvery + 1000, Progress: func(uint64) {
		calls++
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(maps)) {
			mode := strings.Fields(line)[1]
			if strings.Contains(mode, "w") && strings.Contains(mode, "x") {
				t.Errorf("writable and executable: %s", line)
			}
			if strings.Contains(line, "rv64-code") {
				code++
			}
		}
	}}, mode: Translate})
	if err == nil || calls == 0 || code != 2*calls {
		t.Errorf("%d calls, %d mappings of code: %v", calls, code, err)
	}
}

// TestJITStops checks that the host's garbage collection and preemption proceed
// while translated code loops.
func TestJITStops(t *testing.T) {
	needJIT(t)
	var a asm
	loop(&a)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = runGuest(t, readFile(t, assemble(a.text, nil, pageBytes)), options{Request: engine.Request{MaxInstructions: 3e8}, mode: Translate})
	}()
	for n := 0; ; n++ {
		select {
		case <-done:
			if n == 0 {
				t.Error("no collection while the program ran")
			}
			return
		default:
			runtime.GC()
		}
	}
}

// TestHostRefuses exhausts the host's mappings from the guest by making every
// other page of a reservation accessible, and then stores to all of them: pages
// that the host refused must fault in the guest, in every mode, and never crash
// the host process.
func TestHostRefuses(t *testing.T) {
	const base, pages = 0x2000000, 80_000 // above Linux's default limit of 65,530 mappings
	var a asm
	a.set(regA0, base)
	a.set(regA1, pages*pageBytes)
	a.set(regA2, 0)
	a.set(13, mapAnonymous|mapFixed|2)
	a.set(14, -1)
	a.set(15, 0)
	a.call(222)
	a.set(20, base)
	a.set(21, base+pages*pageBytes)
	a.set(22, 2*pageBytes)
	a.set(regA7, 226) // mprotect
	start := len(a.text)
	a.word(wordI(opcodeImm, 0, regA0, 20, 0))
	a.set(regA1, pageBytes)
	a.set(regA2, 3)
	a.word(opcodeSystem, wordR(opcodeReg, 0, 0, 20, 20, 22))
	a.word(wordB(6, 20, 21, int32(start-len(a.text))))
	a.set(20, base)
	store := len(a.text)
	a.word(wordS(opcodeStore, 3, 20, 21, 0), wordR(opcodeReg, 0, 0, 20, 20, 22))
	a.word(wordB(6, 20, 21, int32(store-len(a.text))))
	a.finish(testData, 8)
	f := readFile(t, assemble(a.text, nil, pageBytes))
	for name, mode := range modes(t) {
		_, r, err := runGuest(t, f, options{mode: mode, heat: 1})
		var fault *engine.Fault
		if err == nil && r.ExitCode == 0 {
			t.Skip("this host allows more mappings")
		}
		if !errors.As(err, &fault) || fault.Signal != sigSEGV || fault.Addr < base || fault.Access != "store" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
