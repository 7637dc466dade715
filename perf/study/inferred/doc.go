// Package inferred studies one statistical model of software and hardware: it
// predicts cycles per instruction of shards of programs on out-of-order
// processors, after Wu and Lee, "Inferred Models for Dynamic and Sparse
// Hardware-Software Spaces" (MICRO 2012), sections 2 to 4.
//
//	subjects.yaml → Campaign.Run → Profiles → Options.Run → Findings
//	                                               ↓
//	                                  LoadModel → PredictCPI
//
// A Campaign simulates shards of programs on random architectures. Options.Run
// searches for models of these Profiles, updates them with a few profiles of
// software they do not know, and judges them by profiles that neither search nor
// fit has seen. Options.Process has regressions with Gaussian processes in place of
// searches. PredictCPI applies the best recorded model to any program.
package inferred
