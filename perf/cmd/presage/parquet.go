package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/study/record/parquet"
)

func parquetCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "parquet {FILE.csv | FOLDER} … -o FOLDER",
		Short: "Write recorded tables as Apache Parquet, for R, Python and others",
		Long: `parquet writes recorded tables, CSV files that the recordings.csv beside them lists,
as Apache Parquet files of the same names in a folder; of a FOLDER, all that it and the
folders below it have. Columns keep their names, order and types; the metadata say what
was run, by which command, and when. A table that was changed after it was recorded is
an error.`,
		Example: `  presage parquet datasets -o /tmp/tables
  python3 -c "import pandas; print(pandas.read_parquet('/tmp/tables/validation/cg.parquet'))"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 0
			for _, path := range args {
				tables, err := recordedBelow(path)
				if err != nil {
					return err
				}
				for _, t := range tables {
					if err := writeParquet(filepath.Join(path, t), filepath.Join(out, parquetName(path, t))); err != nil {
						return err
					}
					n++
				}
			}
			if n == 0 {
				return fmt.Errorf("no recorded tables in %s", strings.Join(args, ", "))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d tables\n", n)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder for the files")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

// parquetName returns the file of a table: t below a folder, or, if t is empty, the path
// itself.
func parquetName(path, t string) string {
	if t == "" {
		t = filepath.Base(path)
	}
	return strings.TrimSuffix(t, ".csv") + ".parquet"
}

// recordedBelow returns the recorded tables of a folder and those below it, relative to
// it; of a file, "".
func recordedBelow(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return []string{""}, nil
	}
	var tables []string
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		names, err := record.Files(at)
		if err != nil {
			return err
		}
		for _, name := range names {
			rel, err := filepath.Rel(path, filepath.Join(at, name))
			if err != nil {
				return err
			}
			if strings.HasSuffix(name, ".csv") {
				tables = append(tables, rel)
			}
		}
		return nil
	})
	return tables, err
}

func writeParquet(from, to string) error {
	t, err := record.ReadText(from)
	if err != nil {
		return err
	}
	return store.WriteTo(to, func(w io.Writer) error { return parquet.Write(w, t) })
}
