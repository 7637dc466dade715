// Package perf predicts how a program performs on a machine and at a problem size
// that it was never run on. It has the functions that a notebook needs most, which
// take and return gota DataFrames, one row for each observation. The packages below
// it have the rest; they return typed rows, which Frame turns into a table.
//
// # From a program to its cache misses
//
// A program is profiled at a few small sizes, models that scale are fitted to the
// profiles, and misses are predicted on a machine; an exact simulation judges them:
//
//	prog  := perf.Must(perf.Build(ctx, "../datasets/programs/sweep3d")) // or perf.Open("a.out")
//	runs  := perf.Must(perf.Profile(ctx, prog, perf.Sweep("n", 20, 26, 32, 38, 44, 50), perf.ProfileOptions{}))
//	model := perf.Must(perf.FitScaling(ctx, runs, perf.FitOptions{}))
//	m     := perf.Must(perf.FindMachine("origin2000"))
//	pred  := perf.Must(perf.PredictMisses(ctx, model, m, perf.Sweep("n", 60, 80, 100), perf.PredictOptions{}))
//	sim   := perf.Must(perf.SimulateMisses(ctx, prog, m, perf.Sweep("n", 60, 80), perf.SimulateOptions{}))
//	both  := perf.Must(perf.Compare(pred, sim))
//
// Train chooses the sizes by itself, within a budget, and says how far predictions
// are off at the largest of them:
//
//	trained := perf.Must(perf.Train(ctx, prog, perf.TrainOptions{Parameter: "n", Until: 100, Budget: 2 * time.Minute}))
//	chosen  := perf.Frame(trained.Steps)
//	pred     = perf.Must(perf.PredictMisses(ctx, trained.Model, m, perf.Sweep("n", 100), perf.PredictOptions{}))
//
// ReuseHistogram and Hottest show what was collected, Validate does all of this for
// many sizes and sums up in Accuracy, and Overlay and PerUnit prepare figures. Of
// problem size, cache and ratio of misses, any two give the third:
//
//	l2    := perf.Must(misses.CachesOf(m, "L2"))
//	small := perf.Must(perf.Ask(ctx, model, perf.Query{Points: perf.Sweep("n", 60), Caches: l2, HitRatio: 0.99}))
//	large := perf.Must(perf.Ask(ctx, model, perf.Query{Caches: l2, MissRatio: 0.01, Vary: misses.Vary{Param: "n"}}))
//
// # Execution time
//
// Time is predicted from how often edges are executed, scheduled for a machine's
// core, and from the misses; and simulated instruction by instruction:
//
//	counts := perf.Must(perf.CountSweep(ctx, prog, perf.Sweep("n", 20, 26, 32, 38), perf.RunOptions{}))
//	exec   := perf.Must(perf.FitExecution(ctx, counts))
//	time   := perf.Must(perf.PredictTime(ctx, model, exec, m, perf.Sweep("n", 60), perf.TimeOptions{}))
//	ref    := perf.Must(perf.SimulateTime(ctx, prog, m, perf.Sweep("n", 60), perf.SimulateTimeOptions{}))
//	both   := perf.Must(perf.CompareTime(time, ref))
//
// Calibrate describes the machine at hand, and Measure times native runs on it.
//
// # A program taken apart
//
// Loops, References, InstructionMix and ControlFlow show what static analysis
// finds; with the Counts of a run, how often it was executed. Package anatomy has
// further tables: edges, dependences, strides that a run confirms.
//
// # Collectors of one's own
//
// Run runs a program once and feeds any number of collectors: the ones behind the
// functions above, and any type with a method Observe(*trace.Batch). A batch holds
// the addresses accessed, each with its memory reference, an index into a plan.
// Loops that an engine recorded once are expanded for a collector, unless it is a
// trace.RunCollector:
//
//	plan      := perf.Must(prog.Plan())
//	distances := perf.Must(reuse.New(plan, reuse.Options{BlockBytes: 64}))
//	caches    := perf.Must(cache.New(plan, m.Hierarchy()))
//	res       := perf.Must(perf.Run(ctx, prog, perf.Point{"n": 20}, perf.RecordOptions{}, distances, caches, mine))
//	fmt.Println(distances.Result(), caches.Result(), res.Instructions)
//
// # Parts that stand for the whole
//
// Where a run is too long to be simulated, a few intervals of it stand for it:
// chosen by the code that they execute, or at regular distances:
//
//	phases := perf.Must(perf.BlockVectors(ctx, prog, perf.Point{"n": 60}, perf.PhaseOptions{}))
//	parts  := perf.Must(perf.SampleCaches(ctx, phases, m, []perf.Sampling{{}, {Percent: 10}, {Full: true}}))
//	hits   := perf.Must(perf.HitRates(parts...))
//
// # The smallest model that explains times
//
// SearchModels finds the smallest model that explains measured times of a loop
// nest, whose references KernelOf finds in its binary:
//
//	kernel := perf.Must(perf.KernelOf(prog, "main.kernelCopy", overlay))
//	found  := perf.Must(perf.SearchModels(ctx, times, kernel.Kernel, system, iperf.Request{AbsErr: 0.005, Share: 0.9}, perf.SearchOptions{}))
//
// TuneMatrix finds the block size that a sparse matrix is best stored in and the
// caches that suit it, by regressions that a few hundred simulations train.
// PredictCPI predicts cycles per instruction of any program on any processor of a
// space, by a regression over programs and processors together.
//
// # Studies
//
// Packages below study make studies with recorded results: growth of misses and
// times with the problem (growth), sampled simulation (sampling), regressions over
// programs and processors together (inferred), sparse matrices (sparse), and
// smallest models (kernels). Package notebook shows tables and figures in cells.
//
// # What is kept
//
// Runs are deterministic and their results are kept on disk (package store), so
// that a cell that is executed again takes milliseconds. The methods are those
// of Marin and Mellor-Crummey, "Cross-Architecture Performance Predictions for
// Scientific Applications Using Parameterized Models" (SIGMETRICS 2004) and
// "Scalable Cross-Architecture Predictions of Memory Hierarchy Response for
// Scientific Applications" (LACSI 2005), cited as 2004 and 2005.
//
// # Three kinds of truth
//
// Predicted values come from a model; columns begin with pred_. Simulated values
// come from an exact simulation of the same program on the machine's hierarchy;
// columns begin with sim_. Measured values come from a real clock or counter on
// real hardware; columns begin with meas_. Relative errors are
// (predicted - reference) / reference.
//
// # Glossary
//
//   - access: one execution of a memory reference. An access that straddles two
//     memory blocks touches both.
//   - associativity: the number of blocks that a set of a cache holds (ways);
//     fully associative means one set.
//   - basic block: instructions that always execute together, in sequence.
//   - basic-block vector: how many instructions each basic block executed in an
//     interval of a run.
//   - block (memory block): an aligned range of 2^k bytes: a cache line, or the
//     range that a TLB entry maps.
//   - capacity miss: a miss that a fully associative LRU cache of the same size
//     has too, other than a cold one.
//   - cold miss: the first access to a block.
//   - conflict miss: a miss that a fully associative LRU cache of the same size
//     does not have.
//   - control-flow graph: the basic blocks of a routine and the edges along
//     which control goes from one to the next.
//   - dominate: block a dominates block b if every way to b leads through a.
//   - first location: the address that a reference accesses first, as a formula
//     over what is known when its routine begins.
//   - group: references whose accesses share a histogram: those of one loop with
//     equal strides (2005, section 2.2).
//   - indirect: of a stride, it depends on what another reference loads.
//   - irregular: of a stride, it is not the same in all iterations.
//   - loop: a strongly connected part of a control-flow graph; its header is
//     where control enters it, a back edge leads from its body to the header.
//     One loop of the source can be several in the object code.
//   - memory reference (or reference): an instruction that accesses memory.
//   - miss ratio: misses divided by all accesses of the scope (not only those
//     that reach the level), from 0 to 1.
//   - reuse distance: the number of distinct other blocks accessed between two
//     accesses to the same block; 0 for an immediate repeat. An access hits in a
//     fully associative LRU cache of C blocks exactly if its distance is less
//     than C.
//   - reuse pattern: the accesses of one scope to one object after those of another
//     scope, or its own, with the loop that carries the reuses: the innermost loop
//     whose current execution contains both accesses.
//   - reuse time: the number of accesses between two accesses to the same block.
//     It is not the reuse distance.
//   - scope: the program, a routine, or a loop of the source.
//   - simulation point: an interval of a run that is simulated for all intervals
//     that execute a similar mix of basic blocks (its phase).
//   - stack traffic: accesses that save, spill and restore registers or pass
//     arguments.
//   - stride: by how much the address of a reference changes from one iteration
//     of a loop to the next, for each loop that holds it.
//   - trip count: iterations of a loop for each time that control enters it.
//   - TLB: the cache of address translations. It behaves as an LRU cache whose
//     blocks are the ranges that its entries map (2005, Table 1, note 5).
package perf
