package host

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Geometry is the operating system's description of a data or unified cache.
type Geometry struct {
	Level     int
	Capacity  uint64 // bytes
	LineBytes uint64
	Ways      int    // 0: not known
	Shared    string // the processors that share it, as Linux lists them; "" if not known
}

// sysfsCaches is where Linux describes the caches of the first processor.
const sysfsCaches = "sys/devices/system/cpu/cpu0/cache"

// readSysfs reads the data caches from a file system with Linux' /sys, from the
// processor to memory; none if the system describes none.
func readSysfs(root fs.FS) ([]Geometry, error) {
	dirs, err := fs.Glob(root, sysfsCaches+"/index*")
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	var all []Geometry
	for _, dir := range dirs {
		r := sysfs{root: root, dir: dir}
		if kind := r.text("type"); kind == "Instruction" {
			continue
		}
		g := Geometry{
			Level: int(r.number("level")), Capacity: r.number("size"), LineBytes: r.number("coherency_line_size"),
			Ways: int(r.number("ways_of_associativity")), Shared: r.text("shared_cpu_list"),
		}
		if r.err != nil {
			return nil, r.err
		}
		all = append(all, g)
	}
	slices.SortStableFunc(all, func(a, b Geometry) int { return a.Level - b.Level })
	return all, nil
}

// sysfs reads the files of one folder. It keeps the first error.
type sysfs struct {
	root fs.FS
	dir  string
	err  error
}

func (r *sysfs) text(name string) string {
	data, err := fs.ReadFile(r.root, path.Join(r.dir, name))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("host: /%w", err)
	}
	return strings.TrimSpace(string(data))
}

// number reads a count, or a size such as 48K.
func (r *sysfs) number(name string) uint64 {
	text := r.text(name)
	if r.err != nil {
		return 0
	}
	digits, scale := text, uint64(1)
	for suffix, s := range map[string]uint64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if before, ok := strings.CutSuffix(text, suffix); ok {
			digits, scale = before, s
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		r.err = fmt.Errorf("host: /%s: %q is no size", path.Join(r.dir, name), text)
	}
	return n * scale
}

// usable returns an error if a geometry is not that of a cache: some
// hypervisors show caches without a size or with impossible sets.
func (g *Geometry) usable() error {
	switch {
	case g.LineBytes == 0 || g.LineBytes&(g.LineBytes-1) != 0:
		return fmt.Errorf("lines of %d bytes", g.LineBytes)
	case g.Capacity == 0 || g.Capacity%g.LineBytes != 0:
		return fmt.Errorf("a capacity of %d bytes with lines of %d", g.Capacity, g.LineBytes)
	case g.Ways < 0 || g.Ways > 0 && g.Capacity/g.LineBytes%uint64(g.Ways) != 0:
		return fmt.Errorf("%d lines in sets of %d", g.Capacity/g.LineBytes, g.Ways)
	}
	return nil
}
