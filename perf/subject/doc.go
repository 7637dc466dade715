// Package subject takes an executable and runs it.
//
//	Build, Open ─▶ Program ─▶ Structure   what static analysis finds
//	                  │
//	          Point ──┴─ Run ─▶ batches ─▶ any number of collectors
//
// A Point gives each parameter of the problem a value. One run feeds all the
// collectors that it is given; Memo keeps their results in a store, under the
// Inputs that the run depends on.
package subject
