package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What explore and report refuse, they refuse before anything runs.
func TestExploreAndReportRefuse(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	page := filepath.Join(t.TempDir(), "r.html")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"holds no profiles", []string{"explore", t.TempDir()}},
		{"accepts 1 arg", []string{"explore"}},
		{"--sweep", []string{"report", guestFolder, "--machine", "zen4", "-o", page}},
		{`no description of "vax"`, []string{"report", guestFolder, "--machine", "vax", "--sweep", "n=1,2,3", "-o", page}},
		{"2 sizes to profile", []string{"report", guestFolder, "--machine", "zen4", "--sweep", "n=1,2", "-o", page, "-q"}},
		{"required flag", []string{"report", guestFolder, "--machine", "zen4", "--sweep", "n=1,2,3"}},
	} {
		if out, errs, status := runStatus(t.Context(), strings.NewReader(""), c.args...); status == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s%s, want %s", c.args, status, out, errs, c.want)
		}
	}
	if _, err := os.Stat(page); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page was written: %v", err)
	}
}
