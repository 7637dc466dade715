package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages of a command and those below it.
func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages for man(1), one for each command",
		Long: `Write manual pages for man(1), one for each command, into a folder, which is made
if it does not exist. They say what --help says.`,
		Example: `  presage man ~/.local/share/man/man1
  man presage-predict`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true // a date would change the pages with every call
			header := &doc.GenManHeader{Title: "PRESAGE", Section: "1", Source: "Presage " + release, Manual: "Presage"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("writing manual pages: %w", err)
			}
			return nil
		},
	}
}
