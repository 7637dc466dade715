package scaling

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"

	"presage/perf/fit"
)

// storedModel is a model of the kernels, whose groups share functions, with one group
// that has doubts and one that is held constant.
func storedModel(tb testing.TB) *Model {
	tb.Helper()
	var groups []Group
	for _, k := range kernels {
		groups = append(groups, k.groupsAt(sweepSizes...)...)
	}
	rare := synthetic(sweepSizes, poly(0), atom{poly(900), func(n float64) float64 {
		if n == 26 || n == 40 {
			return 600 * n
		}
		return 0
	}})
	m, err := Fit(tb.Context(), sizesOf(sweepSizes...), append(groups, groups[0], rare), Options{BlockBytes: 64})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// plain is a Model without its methods, which encoding/gob takes apart by itself.
type plain Model

// TestStoredModels: what is read is what encoding/gob makes of the fields themselves,
// shared functions are shared again, and it takes less room.
func TestStoredModels(t *testing.T) {
	m := storedModel(t)
	m.Tails = []Tail{{From: 0.5, Count: m.Groups[0].Accesses}, {From: 8.5, Count: fit.Constant(7)}}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var got Model
	if err := got.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode((*plain)(m)); err != nil {
		t.Fatal(err)
	}
	size := buf.Len()
	var want plain
	if err := gob.NewDecoder(&buf).Decode(&want); err != nil {
		t.Fatal(err)
	}
	if a, b := encoded(t, &got), encoded(t, (*Model)(&want)); !bytes.Equal(a, b) {
		t.Errorf("read %.300s, want %.300s", a, b)
	}
	if len(data) >= size {
		t.Errorf("%d bytes, %d by fields", len(data), size)
	}
	again, err := got.MarshalBinary()
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("written again: %d bytes, %d before, %v", len(again), len(data), err)
	}
	first, copied := &got.Groups[0].Accesses, &got.Groups[len(got.Groups)-2].Accesses
	if len(first.Coefficients) == 0 || &first.Coefficients[0] != &copied.Coefficients[0] {
		t.Error("equal functions share no memory")
	}
	p := fit.Point{"n": 77}
	if !reflect.DeepEqual(got.Histograms(p), m.Histograms(p)) || !reflect.DeepEqual(got.Between(p), m.Between(p)) || len(got.Between(p)) != 2 {
		t.Error("other histograms")
	}
}

// TestFunctionsThatShareInPartAreKept: a function that shares residuals with another,
// and differs from it, stays what it is.
func TestFunctionsThatShareInPartAreKept(t *testing.T) {
	m := fitOne(t, sweepSizes, Options{}, synthetic(sweepSizes, poly(0, 3), atom{poly(3), poly(0, 0, 14)}))
	g := m.Groups[0]
	g.Accesses.Warnings = []fit.Warning{{Doubt: PoorFit, Detail: "x"}}
	g.Cold.Coefficients = []float64{5}
	m.Groups = append(m.Groups, g)
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var got Model
	if err := got.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if a, b := encoded(t, &got), encoded(t, m); !bytes.Equal(a, b) {
		t.Errorf("read %s, want %s", a, b)
	}
}

// FuzzStoredModel: bytes are a model, which is written as it was read, or an error.
func FuzzStoredModel(f *testing.F) {
	g := synthetic(sweepSizes, poly(0, 3), atom{poly(3), poly(0, 0, 14)}, atom{poly(4, 11), poly(5, 0, 2)})
	m, err := Fit(f.Context(), sizesOf(sweepSizes...), []Group{g, g}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	data, err := m.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Model
		if err := m.UnmarshalBinary(data); err != nil {
			if !reflect.DeepEqual(m, Model{}) {
				t.Fatal("a model and an error")
			}
			return
		}
		written, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var again Model
		if err := again.UnmarshalBinary(written); err != nil {
			t.Fatal(err)
		}
		second, err := again.MarshalBinary()
		if err != nil || !bytes.Equal(second, written) {
			t.Fatalf("written differently the second time: %v", err)
		}
	})
}
