package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"presage/perf/store"
)

// KeepExe copies the executable of workers into a store, under its hash, so that a later
// one in its place changes nothing under way, and returns the copy's absolute path.
func KeepExe(st *store.Store, exe string) (string, error) {
	data, err := os.ReadFile(exe)
	if err != nil {
		return "", fmt.Errorf("campaign: %w", err)
	}
	sum := sha256.Sum256(data)
	dir, err := filepath.Abs(st.Dir())
	if err != nil {
		return "", fmt.Errorf("campaign: %w", err)
	}
	path := filepath.Join(dir, "workers", hex.EncodeToString(sum[:8]), filepath.Base(exe))
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) && info.Mode()&0o111 == 0o111 {
		return path, nil // it was renamed into place, whole
	}
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := store.WriteFile(part, data); err != nil {
		return "", err
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return "", fmt.Errorf("campaign: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return "", fmt.Errorf("campaign: %w", err)
	}
	return path, nil
}
