//go:build linux || darwin

package wasmcache

import (
	"runtime"
	"syscall"
)

const (
	name    = "presage-graphviz"
	private = 0o700
	others  = 0o022    // may write
	room    = 64 << 20 // bytes: ten times the compiled code, which is written where there is none
)

// own returns the folder, or "" if there is none that only the user can write to.
func own() string {
	parent := cacheFolder()
	if parent == "" {
		return ""
	}
	_ = syscall.Mkdir(parent, private) // it may exist, as may the next; what counts is what Lstat says
	folder := parent + "/" + name
	_ = syscall.Mkdir(folder, private)
	var s syscall.Stat_t
	if err := syscall.Lstat(folder, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return ""
	}
	if s.Uid != uint32(syscall.Geteuid()) || s.Mode&others != 0 || s.Mode&private != private {
		return ""
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil || uint64(disk.Bavail)*uint64(disk.Bsize) < room {
		return "" // go-graphviz panics where it cannot write
	}
	return folder
}

// cacheFolder returns what os.UserCacheDir does, or "".
func cacheFolder() string {
	home, _ := syscall.Getenv("HOME")
	cache, _ := syscall.Getenv("XDG_CACHE_HOME")
	switch {
	case runtime.GOOS == "darwin" && home != "":
		return home + "/Library/Caches"
	case runtime.GOOS != "darwin" && len(cache) > 0 && cache[0] == '/':
		return cache
	case runtime.GOOS != "darwin" && home != "":
		return home + "/.cache"
	}
	return ""
}
