package kernels_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/iperf"
	"presage/perf/store"
	"presage/perf/study/kernels"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// Simulated times are those of datasets/iperf/simulated.csv, whoever makes them, and
// come from the store the second time.
func TestSimulatedTimesAreThoseRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	const data = "../../../datasets/iperf/"
	prog, err := subject.Build(t.Context(), "../../../datasets/programs/iperf")
	if err != nil {
		t.Fatal(err)
	}
	all, err := kernels.ReadVariants(data + "variants.csv")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := record.Read[kernels.SimulatedRow](data + "simulated.csv")
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		machine, level, placement string
		n                         float64
		seed                      uint64
	}
	want := make(map[key]float64)
	for _, r := range recorded.Rows {
		want[key{r.Machine, r.Level, r.Placement, r.Point["n"], r.Seed}] = r.Seconds
	}
	opt := kernels.SimulationOptions{UseCycles: 2, Store: store.Open(t.TempDir())}
	machines := []string{"ultrasparc-1", "supersparc-2"}
	points := []subject.Point{{"n": 64}, {"n": 256}}
	got, err := opt.Run(t.Context(), prog, all, machines, points)
	if err != nil {
		t.Fatal(err)
	}
	// Variants by machine, size, and their placements: 10 or 3 runs, coloured 1.
	if len(got.Rows) != 2*2*((10+1)+(10+10+1)+(3+1)) {
		t.Fatalf("%d rows", len(got.Rows))
	}
	for _, r := range got.Rows {
		w, ok := want[key{r.Machine, r.Level, r.Placement, r.Point["n"], r.Seed}]
		if !ok || r.Seconds/w > 1.03 || w/r.Seconds > 1.03 { // compilers move a few instructions
			t.Errorf("%+v: recorded are %g s", r, w)
		}
	}
	again, err := opt.Run(t.Context(), prog, all, machines, points)
	if err != nil || len(again.Rows) != len(got.Rows) {
		t.Fatalf("%d rows again, %v", len(again.Rows), err)
	}
	for i := range again.Rows {
		if again.Rows[i].Seconds != got.Rows[i].Seconds {
			t.Errorf("%+v, and from the store %+v", got.Rows[i], again.Rows[i])
		}
	}
	file := filepath.Join(t.TempDir(), "times.csv")
	if err := got.Record(file, "a command"); err != nil {
		t.Fatal(err)
	}
	if r, err := record.Read[kernels.SimulatedRow](file); err != nil || len(r.Rows) != len(got.Rows) || !strings.Contains(r.Origin, prog.File.SHA256[:12]) {
		t.Errorf("recorded: %v", err)
	}
}

func TestReadVariants(t *testing.T) {
	const head = "level,args,routines,placements,runs\n"
	for _, c := range []struct{ text, want string }{
		{"", "want the columns"},
		{head, "want the columns"},
		{head + "O3,-n {n},main.f,nowhere,3\n", `placement "nowhere": want one of anywhere, coloured, fragmented`},
		{head + "O3,-n {n},main.f,anywhere,0\n", `runs "0"`},
		{head + "O3,-n {n},main.f,,3\n", "a placement"},
		{head + "O3,-n {n},main.[,anywhere,3\n", "routines"},
		{head + "O3,,main.f,anywhere,3\nO3,,main.g,anywhere,3\n", ":3: level \"O3\" stands twice"},
	} {
		file := filepath.Join(t.TempDir(), "variants.csv")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := kernels.ReadVariants(file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
	good := []kernels.Variant{{Level: "O3", Args: "-n {n}", Routines: "main.nothing", Placements: []iperf.Placement{iperf.Coloured}, Runs: 1}}
	prog, err := subject.Build(t.Context(), "../../../datasets/programs/iperf")
	if err != nil {
		t.Fatal(err)
	}
	opt := kernels.SimulationOptions{Store: store.Open(t.TempDir())}
	for _, c := range []struct {
		machine, want string
	}{{"ultrasparc-1", "no routine main.nothing"}, {"no-such", "no-such"}} {
		v := good
		if c.machine == "no-such" {
			v = []kernels.Variant{{Level: "O3", Routines: "main.kernel*", Placements: good[0].Placements, Runs: 1}}
		}
		if _, err := opt.Run(t.Context(), prog, v, []string{c.machine}, []subject.Point{{"n": 8}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.machine, err, c.want)
		}
	}
}
