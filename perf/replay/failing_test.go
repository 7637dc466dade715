package replay

import "testing"

// TestEndsByError: routines of a program's own are not taken for those of libraries whose names
// begin alike.
func TestEndsByError(t *testing.T) {
	for routine, want := range map[string]bool{
		"abort": true, "libc.so.6!abort": true, "__assert_fail@plt": true, "abort_step": false, "__assert_failures": false,
		"_ZSt20__throw_out_of_rangePKc": true, "_ZN3app8__throw_Ev": false, "runtime.panicBounds": true, "main.panicked": false,
		"_gfortran_runtime_error_at": true, "_gfortran_runtime_warning_at": false, "exit": false,
	} {
		if got := endsByError(routine); got != want {
			t.Errorf("%s: %v, want %v", routine, got, want)
		}
	}
}
