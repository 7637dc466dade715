package iperf_test

import (
	"fmt"
	"strings"
	"testing"

	"presage/machines"
	"presage/perf/iperf"
	"presage/perf/machine"
)

// figure5Row is what a description says, in the words of Figure 5's table.
func figure5Row(s *iperf.System, level string) string {
	if level == "TLB" {
		kind := "D"
		if s.TLB.Unified {
			kind = "U"
		}
		return fmt.Sprintf("%s %d entries %d", kind, s.TLB.Entries, s.TLB.PageBytes)
	}
	for _, l := range s.Levels {
		if l.Name != level {
			continue
		}
		blocking, indexed, sub := "blocking", "virtually indexed physically tagged", ""
		if l.NonBlocking {
			blocking = "non-blocking"
		}
		if l.Physical {
			indexed = "physically indexed and tagged"
		}
		if l.SubBlockBytes > 0 {
			sub = fmt.Sprint(l.SubBlockBytes)
		}
		return fmt.Sprintf("%d %d %s/%d %s; %s", l.Sets, l.BlockBytes, sub, l.Ways, blocking, indexed)
	}
	return "no " + level
}

// Machine descriptions and supplements together are Figure 5, to the last
// number.
func TestFigure5(t *testing.T) {
	compared := 0
	for name, title := range sparcs {
		s := system(t, name)
		for _, row := range readTable(t, "iperf-fig5-machines.csv") {
			if row[0] != title {
				continue
			}
			compared++
			want := fmt.Sprintf("%s %s/%s %s", row[3], row[4]+" "+row[5], row[6], row[7])
			if row[1] == "TLB" {
				want = fmt.Sprintf("%s %s %s", row[2], row[3], row[4])
			}
			if got := figure5Row(s, row[1]); got != want {
				t.Errorf("%s %s: described as %q, Figure 5 has %q", title, row[1], got, want)
			}
		}
	}
	if compared != 12 {
		t.Errorf("compared %d rows of Figure 5, want 12", compared)
	}
}

// What the machine files themselves lack of Figure 5: sub-blocks, blocking,
// indexing, and that the SuperSPARC-I's TLB holds code. A system without the
// supplement shows it.
func TestDescriptionsAloneDifferFromFigure5(t *testing.T) {
	differ := make(map[string]bool)
	for name, title := range sparcs {
		m, err := machine.Find(name, machines.Files)
		if err != nil {
			t.Fatal(err)
		}
		bare, err := iperf.NewSystem(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		full := system(t, name)
		for _, level := range []string{"TLB", "L1", "L2"} {
			if figure5Row(bare, level) != figure5Row(full, level) {
				differ[title+" "+level] = true
			}
		}
		// UltraSPARCs' L2 latencies are described: what is described stays.
		if l := bare.Levels[1].LatencyCycles; l != 0 && full.Levels[1].LatencyCycles != l || full.Levels[1].LatencyCycles == 0 || full.Frequency == 0 {
			t.Errorf("%s: L2 latency described as %g, with the supplement %g", title, l, full.Levels[1].LatencyCycles)
		}
		if bare.Levels[0].Sets != full.Levels[0].Sets || bare.Levels[1].BlockBytes != full.Levels[1].BlockBytes {
			t.Errorf("%s: a supplement changes geometry", title)
		}
	}
	want := []string{"SuperSPARC-I TLB", "SuperSPARC-I L2", "SuperSPARC-II L2", "UltraSPARC-I L1", "UltraSPARC-II L1"}
	if len(differ) != len(want) {
		t.Errorf("descriptions differ at %v, want %v", differ, want)
	}
	for _, w := range want {
		if !differ[w] {
			t.Errorf("%s does not differ", w)
		}
	}
}

// A supplement fills what is not known, and only that.
func TestSupplementKeepsWhatIsKnown(t *testing.T) {
	m, err := machine.Find("zen4", machines.Files)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := iperf.NewSystem(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	add := &iperf.Supplement{Machine: "zen4", Megahertz: 1, Levels: []iperf.LevelSupplement{{Name: "L1", NonBlocking: true, LatencyCycles: 99}}}
	full, err := iperf.NewSystem(m, add)
	if err != nil {
		t.Fatal(err)
	}
	if bare.Levels[0].LatencyCycles == 0 || full.Levels[0].LatencyCycles != bare.Levels[0].LatencyCycles || !full.Levels[0].NonBlocking {
		t.Errorf("L1 was %+v, is %+v", bare.Levels[0], full.Levels[0])
	}
	for _, wrong := range []*iperf.Supplement{{Machine: "other"}, {Machine: "zen4", Levels: []iperf.LevelSupplement{{Name: "L9"}}}} {
		if _, err := iperf.NewSystem(m, wrong); err == nil {
			t.Errorf("supplement %+v was taken", wrong)
		}
	}
	if _, err := iperf.ParseSupplements("s.yaml", []byte("supplements:\n  - machine: m\n    source: s\n    memory_ns: -1\n")); err == nil || err.Error() != "s.yaml:2: a time or frequency below 0" {
		t.Errorf("a negative time: %v", err)
	}
}

func TestEveryMachineIsASystem(t *testing.T) {
	names, err := machine.Names(machines.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		s := system(t, name)
		for _, k := range iperf.DefaultKernels() {
			l, err := iperf.Preselect(iperf.DefaultDatabase(), k, s, sizes(48, 10))
			if err != nil {
				t.Errorf("%s, %s: %v", name, k.Name, err)
				continue
			}
			if len(l.Curves)+len(l.Pruned) < 12 {
				t.Errorf("%s, %s: %d curves and %d pruned", name, k.Name, len(l.Curves), len(l.Pruned))
			}
		}
	}
}

func TestSystemRefusals(t *testing.T) {
	good := func() *iperf.System {
		return &iperf.System{Name: "s", Levels: []iperf.Level{{Name: "L1", Sets: 4, BlockBytes: 32, Ways: 1}, {Name: "L2", Sets: 4, BlockBytes: 64, Ways: 1}}}
	}
	for want, change := range map[string]func(*iperf.System){
		"formulas cannot use": func(s *iperf.System) { s.Levels[0].Name = "L-1" },
		"0 sets":              func(s *iperf.System) { s.Levels[0].Sets = 0 },
		"blocks of 24":        func(s *iperf.System) { s.Levels[0].BlockBytes = 24 },
		"sub-blocks of 64":    func(s *iperf.System) { s.Levels[0].SubBlockBytes = 64 },
		"name of another":     func(s *iperf.System) { s.Levels[1].Name = "L1" },
		"pages of 5":          func(s *iperf.System) { s.TLB = iperf.TLB{Entries: 1, PageBytes: 5} },
	} {
		s := good()
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
}
