package store

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type profile struct {
	Name   string
	Counts []uint64
}

func mustKey(t *testing.T, inputs any) Key {
	t.Helper()
	k, err := NewKey("profile", 1, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeyDependsOnEverything(t *testing.T) {
	base := mustKey(t, []string{"a", "b"})
	for name, inputs := range map[string]any{
		"other value": []string{"a", "c"},
		"joined":      []string{"ab"},
		"order":       []string{"b", "a"},
	} {
		if k := mustKey(t, inputs); k == base {
			t.Errorf("%s: same key", name)
		}
	}
	newer, err := NewKey("profile", 2, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if newer == base {
		t.Error("version does not enter the key")
	}
	if again := mustKey(t, []string{"a", "b"}); again != base {
		t.Error("the same inputs give different keys")
	}
	if _, err := NewKey("profile", 1, func() {}); err == nil {
		t.Error("inputs that cannot be marshalled: no error")
	}
}

func TestSaveThenLoad(t *testing.T) {
	s, k := Open(t.TempDir()), mustKey(t, 1)
	want := profile{Name: "sweep3d", Counts: []uint64{1, 2, 1 << 60}}
	var got profile
	if err := s.Load(k, &got); !errors.Is(err, ErrMissing) {
		t.Fatalf("Load before Save: %v, want ErrMissing", err)
	}
	if err := s.Save(k, want); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(k, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDamageIsFoundAndRepaired(t *testing.T) {
	damage := map[string]func([]byte) []byte{
		"empty":      func([]byte) []byte { return nil },
		"truncated":  func(b []byte) []byte { return b[:len(b)-3] },
		"bit flip":   func(b []byte) []byte { b[len(b)-2] ^= 1; return b },
		"new format": func(b []byte) []byte { b[len(magic)]++; return b },
		"no magic":   func(b []byte) []byte { b[0]++; return b },
	}
	for name, change := range damage {
		t.Run(name, func(t *testing.T) {
			s, k := Open(t.TempDir()), mustKey(t, 1)
			want := profile{Name: "x", Counts: []uint64{7}}
			if err := s.Save(k, want); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(s.Path(k))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.Path(k), change(data), 0o666); err != nil {
				t.Fatal(err)
			}
			var got profile
			var corrupt *CorruptError
			if err := s.Load(k, &got); !errors.As(err, &corrupt) {
				t.Fatalf("Load: %v, want a CorruptError", err)
			}
			m, err := Memo(s, k, func() (profile, error) { return want, nil })
			if err != nil || !strings.Contains(m.Warning, corrupt.Error()) || m.Stored {
				t.Fatalf("Memo: %+v, error %v", m, err)
			}
			if diff := cmp.Diff(want, m.Value); diff != "" {
				t.Error(diff)
			}
			if err := s.Load(k, &got); err != nil {
				t.Errorf("not repaired: %v", err)
			}
		})
	}
}

// TestEntriesOfOtherKeys: a file that stands in the place of another is not loaded;
// one of the first format, which does not know its key, is.
func TestEntriesOfOtherKeys(t *testing.T) {
	s := Open(t.TempDir())
	one, two := mustKey(t, 1), mustKey(t, 2)
	for i, k := range []Key{one, two} {
		if err := s.Save(k, i+1); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(s.Path(one))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path(two), data, 0o644); err != nil {
		t.Fatal(err)
	}
	var v int
	var corrupt *CorruptError
	if err := s.Load(two, &v); !errors.As(err, &corrupt) {
		t.Errorf("loaded %d, %v", v, err)
	}
	payload := data[headBytes:]
	sum := sha256.Sum256(payload)
	if err := os.WriteFile(s.Path(one), slices.Concat([]byte("presage\x01"), sum[:], payload), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(one, &v); err != nil || v != 1 {
		t.Errorf("the first format: %d, %v", v, err)
	}
}

// TestTry: room is tried, and nothing stays.
func TestTry(t *testing.T) {
	s := Open(t.TempDir())
	if err := s.Try(100_000); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(s.Dir(), unfinished, ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	file := filepath.Join(s.Dir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Open(file).Try(1); err == nil {
		t.Error("a file in the place of the folder: no error")
	}
}

func TestMemoComputesOnce(t *testing.T) {
	s, k := Open(t.TempDir()), mustKey(t, 1)
	calls := 0
	compute := func() (int, error) { calls++; return 42, nil }
	for i := range 3 {
		m, err := Memo(s, k, compute)
		if m.Value != 42 || m.Warning != "" || err != nil {
			t.Fatalf("Memo = %+v, %v", m, err)
		}
		if m.Stored != (i > 0) {
			t.Errorf("call %d: stored %t", i, m.Stored)
		}
	}
	if calls != 1 {
		t.Errorf("computed %d times, want 1", calls)
	}
}

func TestMemoKeepsNoFailure(t *testing.T) {
	s, k := Open(t.TempDir()), mustKey(t, 1)
	boom := errors.New("boom")
	if _, err := Memo(s, k, func() (int, error) { return 1, boom }); !errors.Is(err, boom) {
		t.Fatalf("error %v, want boom", err)
	}
	var v int
	if err := s.Load(k, &v); !errors.Is(err, ErrMissing) {
		t.Errorf("a failure was kept: %v", err)
	}
}

func TestMemoWarnsWhenItCannotSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := Memo(Open(filepath.Join(file, "below")), mustKey(t, 1), func() (int, error) { return 5, nil })
	if m.Value != 5 || err != nil {
		t.Fatalf("Memo = %+v, %v", m, err)
	}
	if !strings.Contains(m.Warning, "not kept") {
		t.Errorf("warning %q", m.Warning)
	}
}

func TestWriteToLeavesNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.csv")
	if err := WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := WriteTo(path, func(w io.Writer) error {
		w.Write([]byte("new, but only half"))
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error %v, want boom", err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "old" {
		t.Errorf("file holds %q, %v", data, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, %v; want the one file", entries, err)
	}
}

func TestDefaultHonoursEnvironment(t *testing.T) {
	t.Setenv("PRESAGE_STORE", "/somewhere")
	s, err := Default()
	if err != nil || s.Dir() != "/somewhere" {
		t.Errorf("Default = %v, %v", s, err)
	}
}

// TestStaleFilesAreRemoved leaves a file behind as a killed process does: the next one
// removes it once it is old, and no younger one, which another process may be writing.
func TestStaleFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	temp := filepath.Join(dir, unfinished)
	if err := os.MkdirAll(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(temp, ".tmp-old"), filepath.Join(temp, ".tmp-young")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-2 * staleAge)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	if err := Open(dir).Save(mustKey(t, 1), profile{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(left) != 0 && (len(left) != 1 || left[0] != young) {
		t.Errorf("left: %v (%v)", left, err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the stale file is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}
