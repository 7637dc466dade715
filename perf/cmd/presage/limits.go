package main

import "strings"

// limitNames are limits, and choices of engines, as the libraries' messages name them,
// each with its flag.
var limitNames = []string{
	"Memory is", "--memory is", "half of Memory", "half of --memory", "(Memory)", "(--memory)", "raise Memory", "raise --memory",
	"instruction limit reached", "instruction limit reached (--max-instructions)",
	"no granted folder holds it", "no granted folder holds it (--dir)",
	"it is a device, pipe or socket", "it is a device, pipe or socket (--dir GUEST=HOST:dev)",
	`engine "`, `--engine "`, `processor "`, `--cpu "`,
}

// A message of a library is replaced by one that names flags in place of fields: by
// ofRun for presage run, by ofJobs for commands that record or simulate runs.
var (
	ofRun = strings.NewReplacer(append([]string{
		"Stack is", "--stack is", "(Stack)", "(--stack)",
		"(MemoryLimit)", "(--memory-limit)", "(OutputLimit)", "(--output-limit)",
		"memory limits", "memory limits: --memory, --memory-limit, --stack", "have (snapshots)", "have (snapshots: --snapshot, --resume)",
	}, limitNames...)...)
	ofJobs = strings.NewReplacer(append([]string{
		"Stack is", "--stack-bytes is", "(Stack)", "(--stack-bytes)", "memory limits", "memory limits: --memory, --stack-bytes",
	}, limitNames...)...)
)
