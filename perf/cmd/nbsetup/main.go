// Command nbsetup installs the Jupyter kernel that Presage's notebooks run in: the
// programs gonb and goimports, in the versions that go.mod pins, and a kernel.json
// that starts them.
//
//	go run presage/perf/cmd/nbsetup            install or update
//	go run presage/perf/cmd/nbsetup --completion  with gopls, for completion and help in cells
//	go run presage/perf/cmd/nbsetup --open     a kernel whose cells may import other modules
//	go run presage/perf/cmd/nbsetup --check    report what is missing, change nothing
//	go run presage/perf/cmd/nbsetup --print    print what would be written, change nothing
//
// The kernel finds the module that encloses a notebook and compiles cells
// against it, offline and with the versions of its go.mod, so that a notebook
// needs no set-up cell and one kernel serves every clone. A notebook outside of a
// clone uses the one that installed the kernel.
//
// Exit status: 0 done, or nothing is missing; 1 something failed or is missing;
// 2 wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// errIncomplete means that --check found something missing, which has been printed.
var errIncomplete = errors.New("the notebook kernel is not ready")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command's flags.
type options struct {
	module, bin, data string
	print, check      bool
	completion, open  bool
}

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	started := false
	cmd := &cobra.Command{
		Use:   "nbsetup",
		Short: "Install the Jupyter kernel that Presage's notebooks run in",
		Long: `Install the Jupyter kernel that Presage's notebooks run in.

Builds gonb and goimports in the versions that go.mod pins and writes a
kernel.json for them into Jupyter's folder. Files that are up to date are left
alone; others are replaced atomically. --print tells their names.

A notebook inside a clone of Presage is compiled against that clone, one elsewhere
against the clone that installed the kernel. Cells import what go.mod lists,
offline; --open installs a second kernel, presage-open, in which they may import
other modules, which are fetched.`,
		Example: `  nbsetup
  nbsetup --completion
  nbsetup --open`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			started = true
			return o.do(cmd.Context(), stdout, stderr)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.module, "module", ".", "a folder inside the module whose go.mod pins the versions")
	f.StringVar(&o.bin, "bin", "", "folder for gonb and goimports (default: presage/bin in the user's data folder)")
	f.StringVar(&o.data, "jupyter-data", "", "Jupyter's data folder (default: $JUPYTER_DATA_DIR, or what 'jupyter --data-dir' says)")
	f.BoolVar(&o.completion, "completion", false, "install gopls as well, for completion and help in cells (a minute)")
	f.BoolVar(&o.open, "open", false, "install the kernel in which cells may import modules that no go.mod lists")
	f.BoolVar(&o.print, "print", false, "print what would be installed and change nothing")
	f.BoolVar(&o.check, "check", false, "report what is missing or outdated and change nothing")
	cmd.MarkFlagsMutuallyExclusive("print", "check")
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case !started:
		fmt.Fprintf(stderr, "nbsetup: %v\nRun 'nbsetup --help' for usage.\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "nbsetup: %v\n", err)
	return exitFailed
}

func (o options) do(ctx context.Context, stdout, stderr io.Writer) error {
	p, err := newPlan(ctx, o)
	if err != nil {
		return err
	}
	switch {
	case o.print:
		return p.print(stdout)
	case o.check:
		return p.check(ctx, stdout)
	}
	return p.install(ctx, stdout, stderr)
}
