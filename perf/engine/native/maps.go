//go:build linux && amd64

package native

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"presage/perf/trace"
)

// module is a range of addresses that code was loaded into from one file, or a
// mapping with code of the program's own making.
type module struct {
	path   string
	lo, hi uint64
	bias   uint64   // address minus that in the file
	base   trace.PC // the plan's address of the file's address 0
	zone   *zone

	told, anonymous bool // in changes of memory; without a file
}

// moduleStride is the distance of modules' bases in a plan.
const moduleStride = 1 << 36

// space is the program's address space, apart from what the engine has there.
type space struct {
	pid     int
	modules []*module // by ascending lo
	bases   map[string]trace.PC
	last    *module
	listed  []moduleRange // the modules; nil: they have changed

	main     string // path of the executable
	mainBias uint64

	mapped     intervals
	peak       uint64
	executable intervals
	both       intervals // writable and executable

	number  uint64 // of programs that this one has replaced
	regions trace.Regions
	chunks  *chunkTable
	brk     uint64

	heapStart, heapPeak uint64 // of the program break; bytes
	anonymousMaps       uint64
}

// chunkTable maps addresses to those of the trace by pieces of a GiB.
type chunkTable [chunks]struct {
	add    uint64
	mapped bool
}

const (
	chunkBits = 30
	chunks    = 1 << (47 - chunkBits)

	// fileReach is the distance up to which mappings of a file belong together.
	fileReach = 1 << 30
)

// synthetic returns the trace's address of a real one.
func (c *chunkTable) synthetic(addr uint64) uint64 {
	return (addr + c[addr>>chunkBits&uint64(len(c)-1)].add) & (trace.AddrLimit - 1)
}

func newSpace(pid int) *space {
	s := &space{pid: pid, bases: make(map[string]trace.PC), chunks: new(chunkTable)}
	s.regions.Align = 1 << chunkBits
	return s
}

// next returns the empty address space of a program that replaces the one of s. What
// was there keeps its place in the plan and in the trace.
func (s *space) next() *space {
	n := newSpace(s.pid)
	n.bases, n.regions, n.number = s.bases, s.regions, s.number+1
	n.peak, n.heapPeak, n.anonymousMaps = s.peak, s.heapPeak, s.anonymousMaps
	return n
}

// mapping is a line of /proc/pid/maps.
type mapping struct {
	lo, hi, offset uint64
	prot           string // as in rwxp
	path           string
}

// readMaps lists the mappings of a process.
func readMaps(pid int) ([]mapping, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	defer f.Close()
	var list []mapping
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		m, err := parseMapping(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("native: mappings of the program: %q: %w", lines.Text(), err)
		}
		list = append(list, m)
	}
	return list, lines.Err()
}

// parseMapping returns the mapping of a line of /proc/PID/maps: addresses, protection, offset,
// device, inode and, maybe, a path.
func parseMapping(line string) (m mapping, err error) {
	fields := strings.Fields(line)
	if len(fields) < 5 || len(fields[1]) < 3 {
		return m, errors.New("fields are missing")
	}
	lo, hi, _ := strings.Cut(fields[0], "-")
	for _, x := range []struct {
		text string
		to   *uint64
	}{{lo, &m.lo}, {hi, &m.hi}, {fields[2], &m.offset}} {
		if *x.to, err = strconv.ParseUint(x.text, 16, 64); err != nil {
			return m, err
		}
	}
	m.prot = fields[1]
	if at := strings.IndexAny(line, "/["); at >= 0 {
		m.path = line[at:]
	}
	return m, nil
}

// ofEngine reports whether addresses belong to the engine.
func ofEngine(addr uint64) bool { return addr >= engineBase && addr < engineEnd }

// start takes over the mappings of a program that was just loaded. main is the path
// of its executable.
// base is the plan's address of its file's address 0.
func (s *space) start(main string, mainBias uint64, base trace.PC) error {
	list, err := readMaps(s.pid)
	if err != nil {
		return err
	}
	s.bases[main], s.main, s.mainBias = base, main, mainBias
	for _, m := range list {
		if ofEngine(m.lo) || strings.HasPrefix(m.path, "[v") {
			continue
		}
		if err := s.add(m.lo, m.hi); err != nil {
			return err
		}
		s.protect(m.lo, m.hi, m.prot[1] == 'w', m.prot[2] == 'x')
		if strings.HasPrefix(m.path, "/") {
			if err := s.file(m.path, m.lo, m.hi, m.offset); err != nil {
				return err
			}
		}
	}
	return nil
}

// add notes that a range became accessible.
func (s *space) add(lo, hi uint64) error {
	s.mapped.add(lo, hi)
	s.peak = max(s.peak, s.mapped.total)
	for c := lo >> chunkBits; c <= (hi-1)>>chunkBits; c++ {
		if c >= uint64(len(s.chunks)) {
			return fmt.Errorf("native: memory at %#x lies outside the address space of a program", hi)
		}
		if s.chunks[c].mapped {
			continue
		}
		n := c + 1
		for n <= (hi-1)>>chunkBits && !s.chunks[n].mapped {
			n++
		}
		base, err := s.regions.Add(s.number<<47|c<<chunkBits, (n-c)<<chunkBits, 0)
		if err != nil {
			return fmt.Errorf("native: memory from %#x to %#x: %w", lo, hi, err)
		}
		for k := c; k < n; k++ {
			s.chunks[k].add, s.chunks[k].mapped = base-c<<chunkBits, true
		}
	}
	return nil
}

// protect notes what the program may do in a range.
func (s *space) protect(lo, hi uint64, write, execute bool) {
	for _, set := range []struct {
		*intervals
		in bool
	}{{&s.executable, execute}, {&s.both, write && execute}} {
		if set.in {
			set.add(lo, hi)
		} else {
			set.remove(lo, hi)
		}
	}
}

// remove notes that a range is accessible no more; it returns whether code may have
// been there.
func (s *space) remove(lo, hi uint64) (code bool) {
	s.mapped.remove(lo, hi)
	s.protect(lo, hi, false, false)
	s.last, s.listed = nil, nil
	s.modules = slices.DeleteFunc(s.modules, func(m *module) bool {
		if m.lo < hi && lo < m.hi {
			code = true
		}
		return lo <= m.lo && m.hi <= hi
	})
	return code
}

// file notes that a part of a file was mapped.
func (s *space) file(path string, lo, hi, offset uint64) error {
	for _, m := range s.modules {
		if m.path == path && lo < m.hi+fileReach && m.lo < hi+fileReach {
			m.lo, m.hi = min(m.lo, lo), max(m.hi, hi)
			s.listed = nil
			return nil
		}
	}
	bias, ok := s.mainBias, true
	if path != s.main { // which need not have a name that can be opened
		bias, ok = fileBias(path, lo, offset)
	}
	if !ok {
		return nil // data, not code
	}
	s.insert(&module{path: path, lo: lo, hi: hi, bias: bias, base: s.base(path)})
	return nil
}

// base returns the plan's address of a file's address 0.
func (s *space) base(path string) trace.PC {
	b, ok := s.bases[path]
	if !ok {
		b = trace.PC(len(s.bases)) * moduleStride
		s.bases[path] = b
	}
	return b
}

func (s *space) insert(m *module) {
	i := 0
	for i < len(s.modules) && s.modules[i].lo < m.lo {
		i++
	}
	s.modules = slices.Insert(s.modules, i, m)
	s.last, s.listed = nil, nil
}

// fileBias returns the difference of addresses in memory and in an ELF file of
// which offset is mapped at lo; false if it is no ELF file.
func fileBias(path string, lo, offset uint64) (uint64, bool) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off&^(pageBytes-1) == offset {
			return lo - p.Vaddr&^(pageBytes-1), true
		}
	}
	return 0, false
}

// anonymous returns the module for code in memory without a file.
func (s *space) anonymous(lo, hi uint64) *module {
	path := fmt.Sprintf("[code at %#x]", lo)
	m := &module{path: path, lo: lo, hi: hi, bias: lo, base: s.base(path), anonymous: true}
	s.insert(m)
	return m
}

// module returns the module that contains pc; nil if none does.
func (s *space) module(pc uint64) *module {
	if m := s.last; m != nil && pc >= m.lo && pc < m.hi {
		return m
	}
	for _, m := range s.modules {
		if pc >= m.lo && pc < m.hi {
			s.last = m
			return m
		}
	}
	if lo, hi, ok := s.mapped.around(pc); ok {
		return s.anonymous(lo, hi)
	}
	return nil
}

// planPC returns the plan's address of code.
func (s *space) planPC(pc uint64) trace.PC {
	m := s.module(pc)
	if m == nil {
		return trace.PC(pc)
	}
	return m.base + trace.PC(pc-m.bias)
}

// known returns the plan's address of code in a module; false if pc is in none.
func (s *space) known(pc uint64) (trace.PC, bool) {
	for _, m := range s.modules {
		if pc >= m.lo && pc < m.hi {
			return m.base + trace.PC(pc-m.bias), true
		}
	}
	return 0, false
}

// ranges returns where the modules lie. The list does not change any more.
func (s *space) ranges() []moduleRange {
	if s.listed == nil {
		for _, m := range s.modules {
			s.listed = append(s.listed, moduleRange{m.lo, m.hi, m.base - trace.PC(m.bias)})
		}
	}
	return s.listed
}

// place returns a free place for a zone near a module.
func (s *space) place(mod *module) (uint64, bool) {
	const (
		step = 16 << 20
		span = 1<<31 - zoneBytes - 64<<20
	)
	list, err := readMaps(s.pid)
	if err != nil {
		return 0, false
	}
	free := func(base uint64) bool {
		if base < 1<<20 || base+zoneBytes > 1<<47-1<<30 {
			return false
		}
		return !slices.ContainsFunc(list, func(m mapping) bool { return m.lo < base+zoneBytes && base < m.hi })
	}
	size := mod.hi - mod.lo
	if size > span {
		return 0, false
	}
	// Below a module at high addresses, as far away as it can be; above one at low
	// addresses. In between is room for the heap and for libraries.
	for d := uint64(span-size) * 3 / 4; d > step; d -= step {
		base := mod.hi + d
		if mod.lo >= 1<<32 {
			base = mod.lo - d - zoneBytes
		}
		if base &^= step - 1; free(base) && reaches(base, mod) {
			return base, true
		}
	}
	return 0, false
}
