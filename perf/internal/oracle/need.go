// Package oracle finds the other tools that tests compare their answers with:
// in goes a tool's name, out comes its path, or the test is skipped.
//
// A test that is skipped where everything should be installed looks like a
// test that passed. With PRESAGE_REQUIRE_TOOLS=1, which continuous integration
// sets, a missing tool therefore fails the test.
package oracle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// RequireVariable is the environment variable that, set to 1, makes a missing
// tool a failure.
const RequireVariable = "PRESAGE_REQUIRE_TOOLS"

// packages maps a tool to the Debian package that brings it. Every package
// here is installed by .ci/install-deps.sh.
var packages = map[string]string{
	"chromium":                   "chromium",
	"g++":                        "g++",
	"gcc":                        "gcc",
	"gfortran":                   "gfortran",
	"Rscript":                    "r-base-core r-cran-quadprog",
	"llvm-mca-14":                "llvm-14",
	"objdump":                    "binutils",
	"strip":                      "binutils",
	"node":                       "nodejs",
	"jupyter":                    "jupyter-notebook jupyter-nbconvert python3-nbclient",
	"jupyter-notebook":           "jupyter-notebook",
	"python3":                    "python3",
	"qemu-riscv64":               "qemu-user",
	"riscv64-linux-gnu-as":       "binutils-riscv64-linux-gnu",
	"riscv64-linux-gnu-g++":      "g++-riscv64-linux-gnu",
	"riscv64-linux-gnu-gcc":      "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross",
	"riscv64-linux-gnu-gfortran": "gfortran-riscv64-linux-gnu",
	"riscv64-linux-gnu-objcopy":  "binutils-riscv64-linux-gnu",
	"riscv64-linux-gnu-objdump":  "binutils-riscv64-linux-gnu",
	"shellcheck":                 "shellcheck",
	"valgrind":                   "valgrind",
	"munged":                     "munge",
	"mariadbd":                   "mariadb-server",
	"slurmdbd":                   "slurmdbd",
	"slurmctld":                  "slurm-wlm",
	"slurmd":                     "slurm-wlm",
	"sbatch":                     "slurm-wlm",
	"ssh":                        "openssh-client",
	"sshd":                       "openssh-server",
}

// pythonPackages maps a Python module to the Debian package that brings it.
var pythonPackages = map[string]string{
	"numpy": "python3-numpy",
	"scipy": "python3-scipy",
}

// systemPython is preferred over the first python3 on PATH: the modules that
// Debian packages bring are seen only by Debian's interpreter.
const systemPython = "/usr/bin/python3"

// Need returns the path of a tool. Where it is missing, the test is skipped,
// or fails if tools are required.
func Need(t testing.TB, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		missing(t, fmt.Sprintf("%s is not installed", tool), packages[tool])
	}
	return path
}

// NeedFolder returns the absolute path of a folder that .ci/install-deps.sh fills. Where
// it is missing, the test is skipped, or fails if tools are required.
func NeedFolder(t testing.TB, folder string) string {
	t.Helper()
	path, err := filepath.Abs(folder)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		missing(t, fmt.Sprintf("%v: run .ci/install-deps.sh test", err), "")
	}
	return path
}

// NeedPython returns the path of a Python interpreter that can import the
// named modules, as Need does for a tool.
func NeedPython(t testing.TB, modules ...string) string {
	t.Helper()
	python := systemPython
	if _, err := os.Stat(python); err != nil {
		python = Need(t, "python3")
	}
	for _, module := range modules {
		if out, err := exec.Command(python, "-c", "import "+module).CombinedOutput(); err != nil {
			missing(t, fmt.Sprintf("%s cannot import %s: %v: %s", python, module, err, out), pythonPackages[module])
		}
	}
	return python
}

// Without ends a test that this machine cannot run for a reason other than a missing
// tool, as Need does. It does not return.
func Without(t testing.TB, why string) {
	t.Helper()
	missing(t, why, "")
}

// missing ends the test. It does not return.
func missing(t testing.TB, what, debian string) {
	t.Helper()
	if debian != "" {
		what += " (Debian: apt-get install " + debian + ")"
	}
	if os.Getenv(RequireVariable) == "1" {
		t.Fatalf("%s, and %s=1 makes that a failure", what, RequireVariable)
	}
	t.Skip("skipped: " + what)
}
