package simpoint_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"presage/perf/bbv"
	"presage/perf/simpoint"
)

// sample is a run of the published program, SimPoint 3.2, on its own sample.
const sample = "../../datasets/metasim/simpoint32"

// sampled are the options of that run.
var sampled = simpoint.Options{Rules: simpoint.SimPoint31, Equal: true}

func sampleVectors(t *testing.T) *bbv.Vectors {
	t.Helper()
	name := filepath.Join(sample, "sample.bb")
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := bbv.Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	// As the program's log says.
	if v.Len() != 500 || v.Total() != 500*1000 {
		t.Fatalf("%d vectors of %d instructions in all", v.Len(), v.Total())
	}
	return v
}

// TestPublishedProgram holds Pick by SimPoint 3.2's rules against a run of the program:
// the score and the distortion of each of its 35 starts to the six digits that it
// prints, their iterations, the points and the weights.
func TestPublishedProgram(t *testing.T) {
	r := pick(t, sampleVectors(t), sampled)
	printed := make(map[string][]string)
	f, err := os.Open(filepath.Join(sample, "starts.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		printed[row[0]+"/"+row[1]] = row[3:]
	}
	if len(printed) != 35 || len(r.Starts) != 35 {
		t.Fatalf("%d starts, printed are %d", len(r.Starts), len(printed))
	}
	for _, s := range r.Starts {
		six := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		got := []string{strconv.Itoa(s.Passes), six(s.Score), six(s.Distortion)}
		if want := printed[fmt.Sprintf("%d/%d", s.K, s.Start+1)]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("k = %d, start %d: iterations, BIC and distortion %v, printed %v", s.K, s.Start+1, got, want)
		}
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"sample.simpoints": func(b *bytes.Buffer) error { return simpoint.WritePoints(b, r.Points) },
		"sample.weights":   func(b *bytes.Buffer) error { return simpoint.WriteWeights(b, r.Points) },
	} {
		want, err := os.ReadFile(filepath.Join(sample, name))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, &got, want)
		}
	}
}

// TestPublishedProgramMoves fails if a choice by the published program's rules were the
// same whatever the seed or the version.
func TestPublishedProgramMoves(t *testing.T) {
	v := sampleVectors(t)
	r := pick(t, v, sampled)
	for _, change := range []func(*simpoint.Options){
		func(o *simpoint.Options) { o.Seed = 1 },
		func(o *simpoint.Options) { o.Rules = simpoint.SimPoint32 },
		func(o *simpoint.Options) { o.Init = simpoint.FurthestFirst },
	} {
		opt := sampled
		change(&opt)
		other := pick(t, v, opt)
		if simpoint.AdjustedRandIndex(r.Labels, other.Labels) > 0.9 {
			t.Errorf("%+v: the same clusters", opt)
		}
	}
	for _, opt := range []simpoint.Options{
		{Rules: simpoint.SimPoint31 + 1},
		{Rules: simpoint.SimPoint32, Search: simpoint.All},
		{Rules: simpoint.SimPoint32, Seed: 1 << 31},
	} {
		if _, err := simpoint.Pick(t.Context(), v, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if rules, err := simpoint.ParseRules("simpoint-3.1"); err != nil || rules != simpoint.SimPoint31 || rules.String() != "simpoint-3.1" {
		t.Errorf("%v, %v", rules, err)
	}
	if _, err := simpoint.ParseRules("simpoint"); err == nil {
		t.Error("rules of no version: no error")
	}
}
