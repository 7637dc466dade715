package main

import (
	"os"

	"github.com/spf13/cobra"

	"presage/perf/store"
	"presage/perf/study/record"
)

func headlinesCommand() *cobra.Command {
	var file, readme, table string
	cmd := &cobra.Command{
		Use:   "headlines",
		Short: "Update the documents' tables of results from the recorded headlines",
		Long: `headlines writes the results that answer a question of a reader into the README,
and all of them, by study, into datasets/README.md: median, 90th percentile and worst
of each sample, with the baselines beside.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := record.Headlines(file)
			if err != nil {
				return err
			}
			for _, d := range []struct {
				path  string
				write func(string, []record.Headline) (string, error)
			}{{readme, record.WithAnswers}, {table, record.WithHeadlines}} {
				text, err := os.ReadFile(d.path)
				if err != nil {
					return err
				}
				renewed, err := d.write(string(text), all)
				if err != nil {
					return err
				}
				if err := store.WriteFile(d.path, []byte(renewed)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "file", "datasets/headlines.csv", "recorded headlines")
	cmd.Flags().StringVar(&readme, "readme", "README.md", "document with the answers to a reader's questions")
	cmd.Flags().StringVar(&table, "table", "datasets/README.md", "document with all results")
	return cmd
}
