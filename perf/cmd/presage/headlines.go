package main

import (
	"os"

	"github.com/spf13/cobra"

	"presage/perf/store"
	"presage/perf/study/record"
)

func headlinesCommand() *cobra.Command {
	var file, readme string
	cmd := &cobra.Command{
		Use:   "headlines",
		Short: "Update the README's table of results from the recorded headlines",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := record.Headlines(file)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(readme)
			if err != nil {
				return err
			}
			renewed, err := record.WithHeadlines(string(text), all)
			if err != nil {
				return err
			}
			return store.WriteFile(readme, []byte(renewed))
		},
	}
	cmd.Flags().StringVar(&file, "file", "datasets/headlines.csv", "recorded headlines")
	cmd.Flags().StringVar(&readme, "readme", "README.md", "file whose table is updated")
	return cmd
}
