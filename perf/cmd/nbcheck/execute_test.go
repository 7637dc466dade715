package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"presage/perf/internal/oracle"
)

// workshop creates a module with this module's dependencies and a freshly installed
// kernel, and returns its folder of notebooks.
func workshop(t *testing.T) string {
	oracle.Need(t, "jupyter")
	home := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", filepath.Join(home, "jupyter"))
	cmd := exec.Command("go", "run", "presage/perf/cmd/nbsetup", "--bin", filepath.Join(home, "bin"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nbsetup: %v\n%s", err, out)
	}
	dir := filepath.Join(home, "m", "notebooks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(home, "m", name), string(data))
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExecute(t *testing.T) {
	if testing.Short() {
		t.Skip("what it starts is built without the race detector")
	}
	dir := workshop(t)
	good := golden(t, "good.ipynb")
	path := filepath.Join(dir, "n.ipynb")

	t.Run("good", func(t *testing.T) {
		// Stale counts are mended by running; the second run gives the same bytes.
		write(t, path, strings.Replace(good, `"execution_count": 3`, `"execution_count": 90`, 1))
		code, out, errs := nbcheck(t, "--execute", "--html", filepath.Join(dir, "html"), path)
		if code != 0 {
			t.Fatalf("exit %d\n%s%s", code, out, errs)
		}
		if !strings.Contains(errs, "n.ipynb: code cell 1 of 5, after ") || !strings.Contains(errs, "code cell 4 of 5") {
			t.Errorf("no progress by cell: %q", errs)
		}
		first := read(t, path)
		if !strings.Contains(first, "iVBORw0KGgo") {
			t.Error("executed notebook has no PNG")
		}
		if page := read(t, filepath.Join(dir, "html", "n.html")); !strings.Contains(page, "data:image/png;base64") {
			t.Error("HTML page has no PNG")
		}
		if code, _, errs := nbcheck(t, "--execute", "-q", path); code != 0 || errs != "" || read(t, path) != first {
			t.Errorf("second run: exit %d, same bytes: %v\n%s", code, read(t, path) == first, errs)
		}
	})
	t.Run("cleared displays are left out", func(t *testing.T) {
		write(t, path, strings.Replace(good, `gonbui.DisplayHTML(\"<b>eight</b>\")`,
			`gonbui.UpdateHTML(\"p\", \"one of two\"); gonbui.UpdateHTML(\"p\", \"\"); gonbui.DisplayHTML(\"<b>eight</b>\")`, 1))
		if code, out, errs := nbcheck(t, "--execute", path); code != 0 {
			t.Fatalf("exit %d\n%s%s", code, out, errs)
		}
		text := read(t, path)
		if n := strings.Count(text, `"output_type": "display_data"`); n != 2 || !strings.Contains(text, `"<b>eight</b>"`) {
			t.Errorf("%d displays, want the image and the number\n%s", n, regexp.MustCompile(`"image/png": "[^"]*"`).ReplaceAllString(text, `"image/png": "…"`))
		}
	})
	t.Run("failing cell leaves the file alone", func(t *testing.T) {
		bad := strings.Replace(good, `fmt.Println(\"side  8\")`, `panic(\"side\")`, 1)
		write(t, path, bad)
		code, out, _ := nbcheck(t, "--execute", path)
		if code != exitFindings || !strings.Contains(out, "cell 5: stderr: stderr line 1: panic: side") {
			t.Errorf("exit %d\n%s", code, out)
		}
		if read(t, path) != bad {
			t.Error("the notebook was changed")
		}
	})
	t.Run("slow cell", func(t *testing.T) {
		write(t, path, strings.Replace(good, `fmt.Println(\"side  8\")`, `for {}`, 1))
		code, out, _ := nbcheck(t, "--execute", "--timeout", "4s", path)
		if code != exitFindings || !strings.Contains(out, "longer than 4s") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("unknown kernel", func(t *testing.T) {
		write(t, path, strings.Replace(good, `"name": "presage"`, `"name": "presage-none"`, 1))
		code, out, _ := nbcheck(t, "--execute", path)
		if code != exitFindings || !strings.Contains(out, `no kernel named "presage-none"`) {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		write(t, path, strings.Replace(good, `fmt.Println(\"side  8\")`, `for {}`, 1))
		before := read(t, path)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		var out strings.Builder
		if code := run(ctx, []string{"--execute", path}, &out, &out); code != exitUsage || !strings.Contains(out.String(), "stopped") {
			t.Errorf("exit %d\n%s", code, &out)
		}
		if read(t, path) != before {
			t.Error("the notebook was changed")
		}
	})
	left, err := filepath.Glob(filepath.Join(dir, ".nbcheck-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
