package store

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// filled returns a store of five entries of two kinds, beside files that are none.
func filled(t *testing.T) (*Store, []Key) {
	t.Helper()
	s := Open(t.TempDir())
	var keys []Key
	for i := range 5 {
		kind := "profile"
		if i == 4 {
			kind = "flow"
		}
		k, err := NewKey(kind, 1, i)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Save(k, profile{Name: strings.Repeat("x", 100*i)}); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(s.Path(k), then, then); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	for _, other := range []string{"programs/0123456789abcdef/sweep3d", "campaigns/abc/jobs.jsonl", "profile/00/readme"} {
		if err := WriteFile(filepath.Join(s.Dir(), other), []byte("no entry")); err != nil {
			t.Fatal(err)
		}
	}
	return s, keys
}

func held(t *testing.T, s *Store, kind string) map[Key]bool {
	t.Helper()
	found := make(map[Key]bool)
	if err := s.Walk(kind, func(e Entry) error {
		info, err := os.Stat(s.Path(e.Key))
		if err != nil || info.Size() != e.Bytes || !info.ModTime().Equal(e.Time) || found[e.Key] {
			t.Errorf("%+v, %v", e, err)
		}
		found[e.Key] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func setOf(keys ...Key) map[Key]bool {
	set := make(map[Key]bool)
	for _, k := range keys {
		set[k] = true
	}
	return set
}

func TestWalk(t *testing.T) {
	s, keys := filled(t)
	if diff := cmp.Diff(setOf(keys...), held(t, s, "")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(setOf(keys[4]), held(t, s, "flow")); diff != "" {
		t.Error(diff)
	}
	kinds, err := s.Kinds()
	if diff := cmp.Diff([]string{"flow", "profile"}, kinds); diff != "" || err != nil {
		t.Error(diff, err)
	}
	boom := errors.New("boom")
	if err := s.Walk("", func(Entry) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("%v, want boom", err)
	}
	if len(held(t, Open(filepath.Join(t.TempDir(), "none")), "")) != 0 {
		t.Error("a store that does not exist has entries")
	}
}

// damage flips the last bit of an entry.
func damage(t *testing.T, s *Store, k Key) {
	t.Helper()
	data, err := os.ReadFile(s.Path(k))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(s.Path(k), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyAgreesWithLoad(t *testing.T) {
	s, keys := filled(t)
	damage(t, s, keys[2])
	missing, _ := NewKey("profile", 9, 9)
	for i, k := range append(keys, missing) {
		var v profile
		load, verified := s.Load(k, &v), s.Verify(k)
		if (load == nil) != (verified == nil) || errors.Is(load, ErrMissing) != errors.Is(verified, ErrMissing) {
			t.Errorf("entry %d: Load %v, Verify %v", i, load, verified)
		}
	}
}

func TestCollect(t *testing.T) {
	for name, c := range map[string]struct {
		collection Collection
		left       []int
		want       Collected
	}{
		"nothing": {Collection{}, []int{0, 1, 2, 3, 4}, Collected{}},
		"old":     {Collection{Before: time.Now().Add(-90 * time.Minute)}, []int{0, 1}, Collected{Entries: 3}},
		"of kind": {Collection{Before: time.Now().Add(-90 * time.Minute), Kinds: []string{"flow"}}, []int{0, 1, 2, 3}, Collected{Entries: 1}},
		"damaged": {Collection{Damaged: true}, []int{0, 2, 3, 4}, Collected{Entries: 1, Damaged: 1}},
		"size":    {Collection{MaxBytes: 1}, nil, Collected{Entries: 5}},
		"dry run": {Collection{MaxBytes: 1, Strays: time.Now().Add(time.Hour), DryRun: true}, []int{0, 1, 2, 3, 4}, Collected{Entries: 5, Strays: 1}},
		"strays":  {Collection{Strays: time.Now().Add(time.Hour)}, []int{0, 1, 2, 3, 4}, Collected{Strays: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s, keys := filled(t)
			damage(t, s, keys[1])
			stray := filepath.Join(s.Dir(), "campaigns", tempPrefix+"x")
			if err := os.WriteFile(stray, []byte("half"), 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := s.Collect(c.collection)
			if err != nil {
				t.Fatal(err)
			}
			if (got.Bytes > 0) != (got.Entries+got.Strays > 0) {
				t.Errorf("%d bytes of %d entries and %d strays", got.Bytes, got.Entries, got.Strays)
			}
			got.Bytes = 0
			if got != c.want {
				t.Errorf("collected %+v, want %+v", got, c.want)
			}
			want := make(map[Key]bool)
			for _, i := range c.left {
				want[keys[i]] = true
			}
			if diff := cmp.Diff(want, held(t, s, "")); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(stray); (err == nil) != (got.Strays == 0 || c.collection.DryRun) {
				t.Errorf("the stray file: %v", err)
			}
		})
	}
}

// TestCollectBySize removes the oldest entries first.
func TestCollectBySize(t *testing.T) {
	s, keys := filled(t)
	total := int64(0)
	for k := range held(t, s, "") {
		info, _ := os.Stat(s.Path(k))
		total += info.Size()
	}
	if _, err := s.Collect(Collection{MaxBytes: total - 1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(setOf(keys[:4]...), held(t, s, "")); diff != "" {
		t.Error(diff)
	}
}

func TestExportImport(t *testing.T) {
	s, keys := filled(t)
	var archive bytes.Buffer
	if n, err := s.Export(&archive, func(e Entry) bool { return e.Kind == "profile" }); n != 4 || err != nil {
		t.Fatalf("%d entries, %v", n, err)
	}
	other := Open(t.TempDir())
	if err := other.Save(keys[0], profile{}); err != nil {
		t.Fatal(err)
	}
	got, err := other.Import(bytes.NewReader(archive.Bytes()))
	if want := (Imported{Added: 3, Present: 1}); got != want || err != nil {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	for i, k := range keys[:4] {
		var v profile
		if err := other.Load(k, &v); err != nil || len(v.Name) != 100*i {
			t.Errorf("entry %d: %d letters, %v", i, len(v.Name), err)
		}
	}
	damage(t, s, keys[1])
	if _, err := s.Export(&bytes.Buffer{}, nil); err == nil || !strings.Contains(err.Error(), keys[1].Hash) {
		t.Errorf("a damaged entry was exported: %v", err)
	}
}

// member is an archive of one member.
func member(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644})); err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func TestImportRefuses(t *testing.T) {
	hash := strings.Repeat("0", 32)
	for name, data := range map[string][]byte{
		"outside the store": member(t, "../../etc/"+hash+ending, "x"),
		"another file":      member(t, "programs/x", "x"),
		"damaged":           member(t, "profile/"+hash+ending, magic+strings.Repeat("x", 50)),
		"not an archive":    []byte(strings.Repeat("x", 2000)),
	} {
		s := Open(t.TempDir())
		if got, err := s.Import(bytes.NewReader(data)); err == nil || got.Added > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if len(held(t, s, "")) > 0 {
			t.Errorf("%s: the store holds something", name)
		}
	}
}

// FuzzImport demands that whatever an archive holds, a store holds sound entries alone.
func FuzzImport(f *testing.F) {
	s := Open(f.TempDir())
	k, err := NewKey("profile", 1, 1)
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Save(k, profile{Name: "x"}); err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := s.Export(&b, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	// All inputs share a folder, which is emptied after each that left something there.
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Open(dir)
		got, err := s.Import(bytes.NewReader(data))
		left, errRead := os.ReadDir(dir)
		if errRead != nil {
			t.Fatal(errRead)
		}
		if len(left) == 0 {
			if got.Added > 0 || got.Present > 0 {
				t.Fatalf("%+v in an empty store, error %v", got, err)
			}
			return
		}
		n := 0
		if err := s.Walk("", func(e Entry) error { n++; return s.Verify(e.Key) }); err != nil || n > got.Added {
			t.Fatalf("%d entries of %d: %v", n, got.Added, err)
		}
		for _, e := range left {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	})
}
