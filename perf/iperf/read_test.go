package iperf_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"presage/perf/iperf"
)

// small is a whole database; line 5 begins its model.
const small = `factors:
  - name: CPU
    required: true
    models:
      - name: CPU
        source: here
        terms:
          - value: '1'
          - value: n^2
  - name: DISK
    models:
      - name: disk
        cost: 2
        source: here
        needs:
          - if: levels >= 1 and footprint > 100
            why: it needs a cache
        terms:
          - over: references
            cases:
              - when: stride <= 8
                value: trips
              - value: sweeps
      - name: both
        source: here
        sum:
          - model: disk
            weight: '2'
`

func TestReadsDatabase(t *testing.T) {
	db, err := iperf.ParseDatabase("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	m := db.Model("disk")
	if m == nil || m.Cost != 2 || m.Factor != "DISK" || m.At != "small.yaml:12" || len(m.Needs) != 1 || len(m.Terms[0].Cases) != 2 {
		t.Errorf("read %+v", m)
	}
	if c := db.Model("CPU"); c.Cost != 1 || !db.Factors[0].Required || db.Factors[1].Required {
		t.Errorf("read %+v", c)
	}
	if s := db.Model("both"); len(s.Sum) != 1 || s.Sum[0].Model != m {
		t.Errorf("read %+v", s)
	}
}

// Every mistake names the line it is on.
func TestDatabaseErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"name: disk\n", "name: disk space\n", "small.yaml:12: \"disk space\" is no name"},
		{"cost: 2", "cost: -2", "small.yaml:13: cost -2"},
		{"cost: 2", "price: 2", "small.yaml:13:"},
		{"value: n^2", "value: n^^2", "small.yaml:9: fit: bad basis"},
		{"value: n^2", "", "small.yaml:"},
		{"stride <= 8", "stride is small", "small.yaml:21: condition"},
		{"stride <= 8", "stride =< 8", "small.yaml:21: condition"},
		{"- value: sweeps", "- {when: 1 < 2, value: sweeps}", "small.yaml:23: the last case has a condition"},
		{"- when: stride <= 8\n                value: trips", "- value: trips", "small.yaml:21: only the last case"},
		{"over: references", "over: refs", "small.yaml:19: over:"},
		{"why: it needs a cache", "why: ''", "small.yaml:17: why is missing"},
		{"        source: here\n        needs", "        needs", "small.yaml:12: source is missing"},
		{"name: both", "name: disk", "a sum itself"}, // replaces the first, and adds itself up
		{"name: both", "name: CPU", "small.yaml:24: model CPU stands at small.yaml:5 too"},
		{"model: disk", "model: tape", "small.yaml:27: model both adds up model \"tape\""},
		{"model: disk", "model: both", "a sum itself"},
		{"  - name: DISK", "  - name: EMPTY\n  - name: DISK", "factor EMPTY has neither"},
		{"factors:", "factors: []\nothers:", "small.yaml:"},
		{small, "factors: []\n", "no factors"},
		{small, "\t", "small.yaml:"},
	} {
		text := strings.Replace(small, c.from, c.to, 1)
		if text == small {
			t.Fatalf("%q is not in the text", c.from)
		}
		db, err := iperf.ParseDatabase("small.yaml", []byte(text))
		if db != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

// A file of the user's own adds a factor and replaces a model; sums take the
// replacement.
func TestExtend(t *testing.T) {
	db, err := iperf.DefaultDatabase().Extend("mine.yaml", []byte(`factors:
  - name: SETUP
    models:
      - {name: setup, source: mine, terms: [{value: log2(n)}]}
  - name: L2
    models:
      - {name: L2b, source: mine, terms: [{value: 2*n}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if db.Model("setup") == nil || db.Model("L2b").Source != "mine" || db.Model("L2nb") == nil {
		t.Error("the file's models are not in the database")
	}
	if db.Model("CACHE").Sum[1].Model != db.Model("L2b") {
		t.Error("CACHE still adds up the model that was replaced")
	}
	if old := iperf.DefaultDatabase().Model("CACHE"); old.Sum[1].Model.Source == "mine" {
		t.Error("the default database was changed")
	}
	s := system(t, "supersparc-1")
	l, err := iperf.Preselect(db, kernel(t, "increment-ij"), s, sizes(64, 4))
	if err != nil {
		t.Fatal(err)
	}
	if got := curves(t, l)["setup"].Terms[0]; !slices.Equal(got, []float64{6, 7, got[2], 8}) {
		t.Errorf("log2(n) at 64 to 256 is %v", got)
	}
	// Latencies are known here, so that CACHE applies: L1b by L2's, 2 n by memory's.
	c := curves(t, l)
	want := c["L1b"].Terms[0][3]*5/50e6 + 2*256*500e-9
	if got := c["CACHE"].Terms[0][3]; !near(got, want) {
		t.Errorf("CACHE at 256 is %g, want %g", got, want)
	}
}

func TestUnknownNamePrunes(t *testing.T) {
	db, err := iperf.ParseDatabase("f.yaml", []byte("factors:\n  - name: X\n    models:\n      - {name: x, source: s, terms: [{value: m}]}\n  - name: Y\n    models:\n      - {name: y, source: s, terms: [{value: n}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := iperf.Preselect(db, kernel(t, "copy"), system(t, "zen4"), sizes(10, 3))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Curves) != 1 || l.Pruned[0].String() != "model x: uses m, which is not known of "+system(t, "zen4").Name {
		t.Errorf("%d curves, pruned %v", len(l.Curves), l.Pruned)
	}
}

func TestKernelErrors(t *testing.T) {
	const good = `kernels:
  - name: k
    params: [n]
    loops:
      - {name: i, trips: n}
    references:
      - {array: a, kind: load, bytes: 8, strides: {i: '8'}}
`
	if _, err := iperf.ParseKernels("k.yaml", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"trips: n", "trips: m", "k.yaml:2: iperf: kernel \"k\": trip count of loop i: unknown parameter m"},
		{"trips: n", "trips: ''", "k.yaml:5: trips is missing"},
		{"kind: load", "kind: fetch", "k.yaml:7: kind"},
		{"{i: '8'}", "{j: '8'}", "k.yaml:7: stride along \"j\""},
		{"{i: '8'}", "{}", "k.yaml:7: no stride along loop i"},
		{"bytes: 8", "bytes: 0", "accesses 0 bytes"},
		{"params: [n]", "params: [stride]", "parameter \"stride\""},
		{"params: [n]", "params: [n, L1_D]", "parameter \"L1_D\""},
		{"      - {name: i, trips: n}\n", "      - {name: i, trips: n}\n      - {name: i, trips: n}\n", "k.yaml:6: loop \"i\" stands twice"},
		{"name: k", "name: ''", "k.yaml:2: name is missing"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if _, err := iperf.ParseKernels("k.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want %q", c.to, c.from, err, c.want)
		}
	}
	k := kernel(t, "stencil")
	if _, err := k.At(map[string]float64{"n": 2.5}); err == nil {
		t.Error("half a row was taken")
	}
	if _, err := k.At(map[string]float64{"n": 2}); err == nil {
		t.Error("a loop of no iterations was taken")
	}
	if _, err := k.At(nil); err == nil {
		t.Error("a size without n was taken")
	}
	if _, err := iperf.FindKernel("none"); err == nil || !strings.Contains(err.Error(), "increment-ij") {
		t.Errorf("a kernel that is not there: %v", err)
	}
}

func FuzzParseDatabase(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range []string{"factors.yaml", "kernels.yaml", "supplements.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	k := kernel(f, "stencil")
	s := system(f, "ultrasparc-1")
	f.Fuzz(func(t *testing.T, data []byte) {
		db, err := iperf.ParseDatabase("fuzz.yaml", data)
		if (db == nil) == (err == nil) {
			t.Fatalf("database %v, error %v", db, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.yaml:") {
				t.Errorf("no position: %v", err)
			}
			return
		}
		// What was read can be evaluated, or says where it cannot.
		l, err := iperf.Preselect(db, k, s, sizes(40, 3))
		if (l == nil) == (err == nil) {
			t.Fatalf("lattice %v, error %v", l, err)
		}
	})
}

func FuzzParseKernels(f *testing.F) {
	data, err := os.ReadFile("kernels.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := iperf.ParseKernels("fuzz.yaml", data)
		if (all == nil) == (err == nil) {
			t.Fatalf("kernels %v, error %v", all, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz.yaml:") {
			t.Errorf("no position: %v", err)
		}
	})
}
