package catalog

import (
	"io/fs"
	"os"
	"presage/machines"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/predict"
	"strings"

	"github.com/go-gota/gota/dataframe"
)

// FindMachine reads a machine description: from a file if name ends in .yaml,
// otherwise the one of that name in the folder $PRESAGE_MACHINES, if that is
// set, or among those that come with Presage (folder machines/).
func FindMachine(name string) (*machine.Machine, error) {
	if strings.HasSuffix(name, ".yaml") {
		return machine.Load(name)
	}
	return machine.Find(name, machineFolders()...)
}

// Machines returns the names that FindMachine knows.
func Machines() ([]string, error) { return machine.Names(machineFolders()...) }

func machineFolders() []fs.FS {
	var dirs []fs.FS
	if dir := os.Getenv("PRESAGE_MACHINES"); dir != "" {
		dirs = append(dirs, os.DirFS(dir))
	}
	return append(dirs, machines.Files)
}

// MachineList returns a row for each machine that FindMachine knows: its name,
// title, processor and frequency_hz (0: not known).
func MachineList() (dataframe.DataFrame, error) {
	type row struct {
		Machine   string  `frame:"machine"`
		Title     string  `frame:"title"`
		Processor string  `frame:"processor"`
		Frequency float64 `frame:"frequency_hz"`
	}
	names, err := Machines()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []row
	for _, name := range names {
		m, err := FindMachine(name)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		rows = append(rows, row{m.Name, m.Title, m.Processor, float64(m.Frequency)})
	}
	return frame.Of(rows), nil
}

// MachineFrame returns a row for each cache, then each TLB, of a machine.
//
//   - kind: cache or tlb
//   - blocks, sets, ways, block_bytes, capacity_bytes: a TLB's blocks are its
//     entries, its capacity is the memory that they map
//   - bypass_float: floating-point accesses pass by
//   - latency_cycles: of a hit in a cache, of a miss in a TLB; 0: not known
//   - source
func MachineFrame(m *machine.Machine) dataframe.DataFrame {
	type row struct {
		Machine  string  `frame:"machine"`
		Level    string  `frame:"level"`
		Kind     string  `frame:"kind"`
		Blocks   uint64  `frame:"blocks"`
		Sets     uint64  `frame:"sets"`
		Ways     uint64  `frame:"ways"`
		Block    uint64  `frame:"block_bytes"`
		Capacity uint64  `frame:"capacity_bytes"`
		Bypass   bool    `frame:"bypass_float"`
		Latency  float64 `frame:"latency_cycles"`
		Source   string  `frame:"source"`
	}
	var rows []row
	for i, l := range predict.Levels(m) {
		r := row{
			Machine: m.Name, Level: l.Name, Blocks: l.Blocks(), Sets: l.Sets, Ways: l.Ways,
			Block: l.BlockBytes, Capacity: l.Blocks() * l.BlockBytes, Bypass: l.BypassFloat,
		}
		if i < len(m.Caches) {
			c := &m.Caches[i]
			r.Kind, r.Latency, r.Source = "cache", float64(c.Latency), strings.Join(c.Source, " ")
		} else {
			t := &m.TLBs[i-len(m.Caches)]
			r.Kind, r.Latency, r.Source = "tlb", float64(t.MissPenalty), strings.Join(t.Source, " ")
		}
		rows = append(rows, r)
	}
	return frame.Of(rows)
}
