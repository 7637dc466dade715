package host

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func cacheFiles(index, level, kind, size, line, ways string) fstest.MapFS {
	dir := sysfsCaches + "/index" + index + "/"
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"level": level, "type": kind, "size": size, "coherency_line_size": line, "ways_of_associativity": ways, "shared_cpu_list": "0-1",
	} {
		files[dir+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return files
}

func joinFiles(parts ...fstest.MapFS) fstest.MapFS {
	all := fstest.MapFS{}
	for _, p := range parts {
		for name, f := range p {
			all[name] = f
		}
	}
	return all
}

func TestReadSysfs(t *testing.T) {
	files := joinFiles(
		cacheFiles("3", "3", "Unified", "32M", "64", "16"),
		cacheFiles("0", "1", "Data", "48K", "64", "12"),
		cacheFiles("1", "1", "Instruction", "32K", "64", "8"),
		cacheFiles("2", "2", "Unified", "1024K", "128", "0"),
	)
	got, err := readSysfs(files)
	want := []Geometry{{1, 48 << 10, 64, 12, "0-1"}, {2, 1 << 20, 128, 0, "0-1"}, {3, 32 << 20, 64, 16, "0-1"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, geometries: %s", err, diff)
	}
	if got, err := readSysfs(fstest.MapFS{}); got != nil || err != nil {
		t.Errorf("a system without caches: %v, %v", got, err)
	}
	broken := cacheFiles("0", "1", "Data", "48X", "64", "12")
	if _, err := readSysfs(broken); err == nil || !strings.Contains(err.Error(), `index0/size: "48X" is no size`) {
		t.Errorf("size 48X: %v", err)
	}
	delete(broken, sysfsCaches+"/index0/level")
	if _, err := readSysfs(broken); err == nil || !strings.Contains(err.Error(), "level") {
		t.Errorf("no level: %v", err)
	}
}

func TestUsable(t *testing.T) {
	for _, c := range []struct {
		g    Geometry
		want string
	}{
		{Geometry{1, 48 << 10, 64, 12, ""}, ""},
		{Geometry{1, 48 << 10, 64, 0, ""}, ""},
		{Geometry{1, 48 << 10, 0, 12, ""}, "lines of 0"},
		{Geometry{1, 48 << 10, 96, 12, ""}, "lines of 96"},
		{Geometry{3, 0, 64, 16, ""}, "capacity of 0"},
		{Geometry{1, 1000, 64, 1, ""}, "capacity of 1000"},
		{Geometry{1, 48 << 10, 64, 7, ""}, "768 lines in sets of 7"},
	} {
		err := c.g.usable()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.g, err, c.want)
		}
	}
}
