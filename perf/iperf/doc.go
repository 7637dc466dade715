// Package iperf turns times measured at several problem sizes, a kernel's loops
// and a machine's memory hierarchy into the smallest model that explains the
// times, or into the evidence that there is none.
//
//	factor database ─┐
//	kernel ──────────┼─ Preselect ─ curves ─ Enumerate ─ fit each ─ Select ─ model
//	system ──────────┘      │ pruned: why           measured times ┘   └─ no model: why
//
// The method is that of Hsu and Kremer, "A Framework for Qualitative
// Performance Prediction" (IPERF), Rutgers LCSR-TR363, July 1998, cited as the
// report. A performance factor (computation, TLB, each cache) has one or more
// models in symbolic form (the report's Figure 6). A complete model is a linear
// combination of at most one model for each factor, with coefficients fitted to
// the times. Coefficients show the relative importance of factors, not the time
// that each costs (section 3.3).
//
//	db := iperf.DefaultDatabase()
//	answer, err := iperf.Search(times, kernel, system, db, iperf.Request{AbsErr: 0.005, Share: 0.9}, iperf.Options{})
//	if answer.Model == nil {
//		fmt.Println(answer.NoModel)
//	}
//
// # Factors are a file
//
// Figure 6 is factors.yaml: a tree of factors, each model with its formula,
// needs, cost and source. A user's file adds to it or replaces models
// (Database.Extend). Formulas are those of package fit with comparisons for
// their pieces; parameters.go lists the names they may use.
//
// # Kernels
//
// A kernel is described in a file (kernels.yaml) or found in a binary by
// package nest, with an Overlay for what the binary does not contain.
//
// # Not modelled
//
// Factors that change the program (the report's compositional factors),
// interference between arrays, reuse carried by loops outside the two
// innermost, and instruction caches.
package iperf
