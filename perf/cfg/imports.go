package cfg

import (
	"slices"
	"strings"

	"presage/perf/isa"
)

// imported returns the name of the routine of another file that an instruction
// calls or jumps to, through a cell that the dynamic linker fills.
func (x *explorer) imported(in *isa.Inst) (name string, ok bool) {
	mems := in.Mems()
	if in.HasTarget || len(mems) == 0 || in.Value.A != isa.Loaded {
		return "", false
	}
	cell, constant := mems[0].Constant()
	if !constant {
		return "", false
	}
	name, ok = x.file.Imports[uint64(cell)]
	return name, ok
}

// lazyStub returns where an instruction that jumps through such a cell goes as long as the
// dynamic linker has not bound it; 0 if that is not known.
func (x *explorer) lazyStub(in *isa.Inst) uint64 {
	cell, _ := in.Mems()[0].Constant()
	return x.file.LazyStub(uint64(cell))
}

// neverReturn are routines of the C, C++ and Fortran libraries that do not return
// to their caller (ISO C 7.22.4 and 7.13.2; Itanium C++ ABI, "Exception
// Handling"; libgfortran's libgfortran.h).
var neverReturn = []string{
	"_Exit", "_Unwind_Resume", "_exit", "__assert_fail", "__assert_perror_fail", "__chk_fail", "__fortify_fail", "__libc_start_main",
	"__longjmp_chk", "__stack_chk_fail", "_gfortran_error_stop_numeric", "_gfortran_error_stop_string", "_gfortran_exit_i4", "_gfortran_exit_i8",
	"_gfortran_os_error", "_gfortran_os_error_at", "_gfortran_runtime_error", "_gfortran_runtime_error_at", "_gfortran_stop_numeric", "_gfortran_stop_string",
	"_longjmp", "abort", "err", "errx", "exit", "longjmp", "pthread_exit", "quick_exit", "siglongjmp", "verr", "verrx",
	"_ZSt9terminatev", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_call_unexpected", "__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw",
	"__cxa_throw_bad_array_length", "__cxa_throw_bad_array_new_length",
}

// neverReturns reports whether an imported routine does not return.
func neverReturns(name string) bool {
	return slices.Contains(neverReturn, name) || strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_")
}
