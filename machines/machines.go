// Package machines holds the machine descriptions that come with Presage, one
// YAML file a machine; package perf/machine reads them.
package machines

import "embed"

// Files are the descriptions.
//
//go:embed *.yaml
var Files embed.FS
