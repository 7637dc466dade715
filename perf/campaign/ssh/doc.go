// Package ssh has the jobs of a campaign done on hosts that ssh reaches: a pool whose
// workers are processes there. The hosts share the store, at the same path, and the
// folders that programs read. ssh must need no password (BatchMode).
package ssh
