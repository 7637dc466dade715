package catalog

import (
	"io/fs"
	"os"
	"strings"

	"presage/machines"
	"presage/perf/machine"
)

// Find reads a machine description: from a file if name ends in .yaml, otherwise
// the one of that name in the folder $PRESAGE_MACHINES, if that is set, or among
// those that come with Presage (folder machines/).
func Find(name string) (*machine.Machine, error) {
	if strings.HasSuffix(name, ".yaml") {
		return machine.Load(name)
	}
	return machine.Find(name, folders()...)
}

// Names returns the names that Find knows, sorted.
func Names() ([]string, error) { return machine.Names(folders()...) }

func folders() []fs.FS {
	var dirs []fs.FS
	if dir := os.Getenv("PRESAGE_MACHINES"); dir != "" {
		dirs = append(dirs, os.DirFS(dir))
	}
	return append(dirs, machines.Files)
}
