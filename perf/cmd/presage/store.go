package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"presage/perf/store"
)

func storeCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look at what the store holds, check it, move it, and tidy it up",
		Long: `The store keeps results of runs, so that a repeated command finds them: profiles
(reuse), simulations of caches (cache) and of cores (time), counts (flow), models
(model), and others. Each is a file that is named for a hash of all that it depends
on, and holds a checksum. Beside these entries it has the executables that were run
(programs) and what campaigns left (campaigns). Whatever is removed is computed
again when it is asked for.`,
	}
	cmd.PersistentFlags().StringVar(&dir, "store", "", "the store (default the user's)")
	cmd.AddCommand(storeListCommand(&dir), storeUsageCommand(&dir), storeCollectCommand(&dir), storeVerifyCommand(&dir), storeExportCommand(&dir), storeImportCommand(&dir))
	return cmd
}

// alignedTable prints columns aligned.
func alignedTable(w io.Writer, print func(w io.Writer)) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	print(t)
	return t.Flush()
}

// kindTotal is what a store holds of a kind.
type kindTotal struct {
	entries     int
	bytes       int64
	first, last time.Time
}

func (k *kindTotal) add(e store.Entry) {
	if k.entries == 0 || e.Time.Before(k.first) {
		k.first = e.Time
	}
	if e.Time.After(k.last) {
		k.last = e.Time
	}
	k.entries, k.bytes = k.entries+1, k.bytes+e.Bytes
}

func storeListCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "ls [KIND]",
		Short: "List the kinds of entries, or the entries of a kind",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := storeOf(*dir)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return listEntries(cmd.OutOrStdout(), st, args[0])
			}
			return listKinds(cmd.OutOrStdout(), st)
		},
	}
}

func listEntries(w io.Writer, st *store.Store, kind string) error {
	kinds, err := st.Kinds()
	if err != nil {
		return err
	}
	if !slices.Contains(kinds, kind) {
		return fmt.Errorf("store: no entries of kind %q in %s; presage store ls lists the kinds", kind, st.Dir())
	}
	fmt.Fprintln(w, "hash                                   bytes  written")
	return st.Walk(kind, func(e store.Entry) error {
		_, err := fmt.Fprintf(w, "%s %11d  %s\n", e.Hash, e.Bytes, e.Time.UTC().Format(time.RFC3339))
		return err
	})
}

func listKinds(w io.Writer, st *store.Store) error {
	totals := make(map[string]*kindTotal)
	var kinds []string
	if err := st.Walk("", func(e store.Entry) error {
		if totals[e.Kind] == nil {
			totals[e.Kind] = new(kindTotal)
			kinds = append(kinds, e.Kind)
		}
		totals[e.Kind].add(e)
		return nil
	}); err != nil {
		return err
	}
	return alignedTable(w, func(w io.Writer) {
		fmt.Fprintln(w, "kind\tentries\tbytes\tfirst\tlast\t")
		for _, kind := range kinds {
			k := totals[kind]
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t\n", kind, k.entries, k.bytes, k.first.UTC().Format(time.DateOnly), k.last.UTC().Format(time.DateOnly))
		}
	})
}

func storeUsageCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "du",
		Short: "Say what each folder of the store occupies",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := storeOf(*dir)
			if err != nil {
				return err
			}
			folders, err := os.ReadDir(st.Dir())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("store: %w", err)
			}
			var all int64
			return alignedTable(cmd.OutOrStdout(), func(w io.Writer) {
				fmt.Fprintln(w, "folder\tfiles\tbytes\t")
				for _, f := range folders {
					files, bytes := usage(filepath.Join(st.Dir(), f.Name()))
					all += bytes
					fmt.Fprintf(w, "%s\t%d\t%d\t\n", f.Name(), files, bytes)
				}
				fmt.Fprintf(w, "all\t\t%d\t\n", all)
			})
		},
	}
}

// usage returns the files below a path and their bytes; files that go meanwhile are
// passed over.
func usage(path string) (files int, bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return nil
	})
	return files, bytes
}

func storeCollectCommand(dir *string) *cobra.Command {
	var (
		older time.Duration
		size  string
		c     store.Collection
	)
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove stray temporary files and, if asked, entries by age, size or damage",
		Long: `gc removes files that a process began to write more than a day ago and did not
finish. With --older it removes entries that were written longer ago, with --max-size
the oldest ones until the rest fits, with --damaged those that cannot be used. --kind
confines that to some kinds. --dry-run says what would go.`,
		Example: `  presage store gc
  presage store gc --older 2160h --kind cache,time
  presage store gc --max-size 20GiB --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := storeOf(*dir)
			if err != nil {
				return err
			}
			if older < 0 {
				return fmt.Errorf("--older %s: want an age, such as 720h", older)
			}
			now := time.Now()
			c.Strays = now.Add(-24 * time.Hour)
			if older > 0 {
				c.Before = now.Add(-older)
			}
			if size != "" {
				bytes, err := parseBytes(size)
				if err != nil {
					return fmt.Errorf("--max-size: %w", err)
				}
				c.MaxBytes = int64(bytes)
			}
			out, err := st.Collect(c)
			verb := "removed"
			if c.DryRun {
				verb = "would remove"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %d entries, %d of them damaged, and %d stray files: %d bytes\n", verb, out.Entries, out.Damaged, out.Strays, out.Bytes)
			return err
		},
	}
	f := cmd.Flags()
	f.DurationVar(&older, "older", 0, "remove entries that were written longer ago than this, such as 720h")
	f.StringVar(&size, "max-size", "", "remove the oldest entries until all occupy no more than this, such as 20GiB")
	f.BoolVar(&c.Damaged, "damaged", false, "remove entries that cannot be used; this reads all")
	f.StringSliceVar(&c.Kinds, "kind", nil, "entries of these kinds only (default all)")
	f.BoolVar(&c.DryRun, "dry-run", false, "remove nothing")
	return cmd
}

func storeVerifyCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Hold every entry against its checksum",
		Long: `verify reads every entry and holds it against its checksum. It prints those that
cannot be used, as they are damaged or in another format, and ends with status 1 if
there are any: presage store gc --damaged removes them, and commands replace them by
themselves.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := storeOf(*dir)
			if err != nil {
				return err
			}
			good, bad := 0, 0
			err = st.Walk("", func(e store.Entry) error {
				switch err := st.Verify(e.Key); {
				case err == nil:
					good++
				case errors.Is(err, store.ErrMissing): // it went meanwhile
				default:
					bad++
					fmt.Fprintln(cmd.OutOrStdout(), err)
				}
				return cmd.Context().Err()
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d entries are good\n", good)
			if bad > 0 {
				return fmt.Errorf("store: %d entries of %d cannot be used", bad, good+bad)
			}
			return nil
		},
	}
}

func storeExportCommand(dir *string) *cobra.Command {
	var kinds []string
	cmd := &cobra.Command{
		Use:   "export FILE.tar",
		Short: "Write entries to an archive, for another store",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := storeOf(*dir)
			if err != nil {
				return err
			}
			n := 0
			err = store.WriteTo(args[0], func(w io.Writer) error {
				var err error
				n, err = st.Export(w, func(e store.Entry) bool { return len(kinds) == 0 || slices.Contains(kinds, e.Kind) })
				return err
			})
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%d entries\n", n)
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "entries of these kinds only (default all)")
	return cmd
}

func storeImportCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE.tar",
		Short: "Add the entries of an archive that export wrote",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := storeOf(*dir)
			if err != nil {
				return err
			}
			f, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("store: %w", err)
			}
			defer f.Close() // only read
			got, err := st.Import(f)
			fmt.Fprintf(cmd.OutOrStdout(), "%d entries added, %d were there\n", got.Added, got.Present)
			return err
		},
	}
}
