// Command nbcheck judges Jupyter notebooks by their recorded outputs and, with
// --execute, runs them first.
//
//	nbcheck notebooks/*.ipynb                          judge what is recorded
//	nbcheck --execute notebooks/*.ipynb                run, judge, replace if good
//	nbcheck --execute --output build/q.ipynb q.ipynb   run, judge, write elsewhere
//	nbcheck --update-prose notebooks/*.ipynb           write figures in prose anew
//
// `jupyter nbconvert --execute` exits with status 0 even if a Go cell panicked or
// exited with an error, because Jupyter does not treat text on stderr as an error.
// nbcheck reads the outputs instead. Findings, by kind:
//
//	malformed      not a version 4 notebook; the line of the first fault is given
//	error          a cell with an error output: code that does not compile
//	stderr         a line "panic: …", "exit status N" or "signal: …" on stderr
//	not-executed   a code cell without an execution count
//	stale-order    execution counts that do not increase from cell to cell
//	no-image       no output is an image: the reader sees no figure
//	bad-image      a PNG output that cannot be decoded
//	home-path      an output that names a folder of the user who ran it, or the folder
//	               around the notebook's
//	remote-script  an output that loads a script from the network
//	no-kernel      the notebook does not record which kernel runs it
//	execution      the notebook could not be run, or not to its end
//	no-output      --show TAG found no text to print
//	prose          a figure in the text that the notebook's outputs contradict
//
// # Figures in prose
//
// A number with the unit of a result in a Markdown cell ("4%", "3 times", "0.05
// points") claims what the notebook's outputs must show. A comment right after it,
// which readers do not see, binds it to a cell of a displayed table, to a statistic of
// some of its rows, or to a headline:
//
//	4%<!-- = -rel_err n=60 level=L1 --> too low
//	within 6%<!-- >= max abs rel_err n>48 -->
//	2.9<!-- = median rel_err level="L1 TLB"|L2 --> times
//	69% at worst<!-- = worst of "L1 and L2" -->, does not bind: it follows no number
//	69%<!-- = worst of "L1 and L2" --> at worst; 81%<!-- = median of "L1 and L2" / "n³" --> by n³
//
// A bound figure must be its result, rounded to the digits that it shows (or >= or <=
// it). "-" before the column takes the negative, for "too low"; "1+" makes a ratio of a
// relative error; "abs" takes magnitudes; statistics are min, max, median, mean,
// sum and count, of headlines value, median, p90, worst and rows. With --update-prose figures
// that are not their result are written anew, unless its sign is wrong.
//
// Where tables of several cells have the rows, and "=" names results that differ, the
// binding ends with a place: "4%<!-- = -rel_err n=60 level=L1 @above -->" is of the nearest
// output above with such rows, @below of the next one below, and @NAME of the cell with
// that ID or tag.
//
// Every figure needs a binding, in every notebook. That some number in the outputs rounds
// to it would say little: with hundreds of numbers most small percentages are among them.
//
// By rule these are no figures, unless they are bound: code; sizes ("n = 60", "2.7
// times the largest size"); bounds ("at least 2%", "within 5%"); clauses that speak of
// a paper, a report, what is printed there, an earlier recording, what is asked for, or a
// goal.
//
// Exit status: 0 every notebook is good; 1 there are findings; 2 wrong usage, a
// file that cannot be read or written, or no Jupyter.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const (
	exitFindings = 1
	exitUsage    = 2
)

// errFindings means that a notebook has findings, which have been printed.
var errFindings = errors.New("there are findings")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command's flags. The zero value judges recorded outputs and
// prints text.
type options struct {
	execute bool
	update  bool          // write bound figures anew
	timeout time.Duration // of one cell
	output  string
	html    string
	show    string
	format  string
	quiet   bool
}

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	cmd := &cobra.Command{
		Use:   "nbcheck [flags] NOTEBOOK...",
		Short: "Judge Jupyter notebooks by their outputs, after running them if asked to",
		Long: `Judge Jupyter notebooks by their outputs, after running them if asked to.

A notebook is good if every code cell was executed, in order, without an error
output, panic or non-zero exit, and if it shows at least one image. With
--execute a notebook runs in its own folder, with the kernel that it records,
and is replaced only by a good result, or one whose only findings are figures in
its text: these need the new outputs to be corrected by, and --update-prose
corrects those that are bound to a result ('go doc presage/perf/cmd/nbcheck').

Exit status: 0 good; 1 findings; 2 usage, unreadable file, or no Jupyter.`,
		Example: `  nbcheck notebooks/*.ipynb
  nbcheck --execute --timeout 5m notebooks/*.ipynb
  nbcheck --execute --update-prose notebooks/*.ipynb
  nbcheck --execute --output build/quickstart.ipynb --html build notebooks/quickstart.ipynb`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := o.validate(paths); err != nil {
				return err
			}
			return o.checkAll(cmd.Context(), paths, stdout, stderr)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.execute, "execute", false, "run the notebooks before judging them")
	f.BoolVar(&o.update, "update-prose", false, "write the figures in the text that are bound to a result, and are not it, anew")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "with --execute: the time that one cell may take")
	f.StringVar(&o.output, "output", "", "with --execute and one notebook: write the result here, not in place")
	f.StringVar(&o.html, "html", "", "write each notebook that is good as HTML into this folder")
	f.StringVar(&o.show, "show", "", "print the text outputs of the cells with this tag")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "with --execute: no line on standard error as each cell begins")
	f.StringVar(&o.format, "format", "text", "text or json")
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return exitFindings
	}
	fmt.Fprintf(stderr, "nbcheck: %v\nRun 'nbcheck --help' for usage.\n", err)
	return exitUsage
}

// validate rejects flags that contradict each other or the notebooks.
func (o *options) validate(paths []string) error {
	switch {
	case o.format != "text" && o.format != "json":
		return fmt.Errorf("--format %q: want text or json", o.format)
	case o.format == "json" && o.show != "":
		return errors.New("--show prints text: leave out --format json")
	case o.output != "" && (!o.execute || len(paths) != 1):
		return errors.New("--output needs --execute and exactly one notebook")
	case o.timeout < time.Second:
		return fmt.Errorf("--timeout %v: want at least 1s", o.timeout)
	}
	pages := make(map[string]string)
	for _, path := range paths {
		page := htmlName(path)
		if other, ok := pages[page]; ok && o.html != "" {
			return fmt.Errorf("%s and %s would both be written as %s", other, path, page)
		}
		pages[page] = path
	}
	return nil
}

// checkAll checks every notebook and prints the findings.
func (o *options) checkAll(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	var results []result
	good := true
	for _, path := range paths {
		r, err := o.check(ctx, path, stderr)
		if err != nil {
			return err
		}
		good = good && len(r.Findings) == 0
		results = append(results, r)
		if o.format == "text" {
			r.print(stdout)
		}
	}
	if o.format == "json" {
		if err := printJSON(stdout, results); err != nil {
			return err
		}
	}
	if !good {
		return errFindings
	}
	return nil
}

// check runs and judges one notebook. Faults of the notebook are in the result; the
// error reports only problems of the environment.
func (o *options) check(ctx context.Context, path string, stderr io.Writer) (result, error) {
	r := result{Notebook: path, Written: path}
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if r.clone, err = around(path); err != nil {
		return r, err
	}
	nb, err := parse(data)
	if err != nil {
		r.malformed(err)
		return r, nil
	}
	if o.execute {
		if o.output != "" {
			r.Written = o.output
		}
		before, start := nb, time.Now()
		var progress io.Writer
		if !o.quiet {
			progress = stderr
		}
		done, err := execute(ctx, nb, path, r.Written, o.timeout, progress)
		if err != nil {
			return r, err
		}
		defer done.discard()
		r.Seconds = time.Since(start).Seconds()
		if done.failure != "" {
			r.add(finding{Kind: kindExecution, Message: done.failure})
			return r, nil
		}
		if nb, err = parse(done.data); err != nil {
			r.malformed(err)
			return r, nil
		}
		if nb, err = o.updateProse(&r, nb, done.data, done.file()); err != nil {
			return r, err
		}
		r.judge(nb)
		if r.spoiled() {
			r.relocate(before)
			fmt.Fprintf(stderr, "nbcheck: %s has findings: %s is left as it was\n", path, r.Written)
			return r, nil
		}
		if err := done.commit(); err != nil {
			return r, err
		}
	} else {
		if nb, err = o.updateProse(&r, nb, data, path); err != nil {
			return r, err
		}
		r.judge(nb)
	}
	if o.show != "" {
		r.show(nb, o.show)
	}
	if o.html != "" && len(r.Findings) == 0 {
		r.HTML = filepath.Join(o.html, htmlName(path))
		err = writeHTML(ctx, r.Written, r.HTML)
	}
	return r, err
}

// updateProse writes the bound figures of a notebook anew, into file, if that is asked
// for and some are not their result, and returns the notebook as it then is.
func (o *options) updateProse(r *result, nb *notebook, data []byte, file string) (*notebook, error) {
	if !o.update {
		return nb, nil
	}
	updated, n := updateProse(data, nb)
	if n == 0 {
		return nb, nil
	}
	r.Updated = n
	if err := replaceFile(file, updated); err != nil {
		return nb, err
	}
	return parse(updated)
}

// replaceFile replaces a file as a whole, or leaves it as it is.
func replaceFile(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".nbcheck-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// around returns the folder around that of a file, with a slash; empty at the top of the
// file system.
func around(path string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(filepath.Dir(path), ".."))
	if err != nil || filepath.Dir(dir) == dir {
		return "", err
	}
	return dir + string(filepath.Separator), nil
}
