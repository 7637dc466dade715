//go:build !amd64

package cache

import "testing"

// narrow runs a test.
func narrow(t *testing.T, test func(*testing.T)) { test(t) }
