package cache

import "testing"

// narrow runs a test with what this processor has to serve transfers with, and again with
// vectors of four tags if it has those of eight.
func narrow(t *testing.T, test func(*testing.T)) {
	test(t)
	if wideServers {
		wideServers = false
		t.Cleanup(func() { wideServers = true })
		test(t)
	}
}
