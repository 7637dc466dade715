package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/study/kernels"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"
)

// searchTables are what search-models can print.
var searchTables = []string{"candidates", "coefficients", "pruned", "reasons", "sensitivities", "predictions", "peaks", "curves"}

// searchTable returns one of searchTables.
func searchTable(m *perf.ModelSearch, name string) dataframe.DataFrame {
	switch name {
	case "candidates":
		return frame.Of(m.Candidates)
	case "coefficients":
		return frame.Of(m.Coefficients)
	case "pruned":
		return frame.Of(m.Pruned)
	case "reasons":
		return frame.Of(m.Reasons)
	case "sensitivities":
		return frame.Of(m.Sensitivities)
	case "predictions":
		return frame.Of(m.Predictions)
	case "peaks":
		return frame.Of(m.Peaks)
	}
	return frame.Of(m.Curves)
}

// readTimes reads a table, and keeps the rows in which columns have the given
// values, each column=value.
func readTimes(path string, only []string) (dataframe.DataFrame, error) {
	var none dataframe.DataFrame
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	df, err := frame.ReadCSV(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	for _, text := range only {
		column, value, ok := strings.Cut(text, "=")
		if !ok {
			return none, fmt.Errorf("--where %q: want column=value", text)
		}
		if df, err = frame.Where(df, column, value); err != nil {
			return none, fmt.Errorf("%s: %w", path, err)
		}
		if df.Nrow() == 0 {
			return none, fmt.Errorf("%s: no row left with %s", path, text)
		}
	}
	return df, nil
}

func searchCommand() *cobra.Command {
	var (
		out                 output
		request             iperf.Request
		opt                 perf.SearchOptions
		from                binaryFlags
		machine, supplement string
		table               string
		only                []string
		cheapest, coloured  bool
		report              bool
	)
	cmd := &cobra.Command{
		Use:   "search-models TIMES.csv",
		Short: "Find the smallest model that explains measured times, or why there is none",
		Long: `search-models reads times of a kernel at several sizes, as presage measure
writes them, and finds which factors of a machine (computation, TLB, each cache,
page placement) a model must have to predict a share of the sizes within an error.
The kernel is one that is described (--kernel), or is found by static analysis of a
routine of a binary (--binary, --routine; presage kernel shows what is found).

Times are in the only column of meas_time_sec, sim_time_sec and time_sec, or in
those of --time; rows of the same size are its runs. If no model meets the request,
standard error says why, and the tables tell of the best one.`,
		Example: `  presage search-models times.csv --kernel increment-ij --machine ultrasparc-1 --abs-err 0.005 --share 0.9
  presage search-models times.csv --kernel mine.yaml:loop --machine here.yaml --rel-err 0.1 --share 0.9 --cheapest --table sensitivities
  presage search-models times.csv --binary ./a.out --routine kernel_ij --overlay ij.yaml --machine here.yaml --rel-err 0.1 --share 0.9
  presage search-models datasets/iperf/simulated.csv --where machine=ultrasparc-2 --where level=O3 --where placement=anywhere --kernel increment-ij --machine ultrasparc-2 --abs-err 0.002 --share 0.99 --report --table peaks`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if !slices.Contains(searchTables, table) {
				return fmt.Errorf("--table %q: want one of %s", table, strings.Join(searchTables, ", "))
			}
			times, err := readTimes(args[0], only)
			if err != nil {
				return err
			}
			k, analysed, err := from.find()
			if err != nil {
				return err
			}
			if analysed != nil {
				warn(cmd.ErrOrStderr(), analysed.Notes)
			}
			s, err := kernels.FindSystem(machine, supplement)
			if err != nil {
				return err
			}
			if coloured {
				s.Placement = iperf.Coloured
			}
			if cheapest {
				request.Criterion = iperf.Cheapest
			}
			if report {
				opt.Database = iperf.ReportDatabase()
			}
			found, err := perf.SearchModels(cmd.Context(), times, k, s, request, opt)
			if err != nil {
				return err
			}
			for _, w := range found.Warnings {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
			}
			if found.NoModel != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), found.NoModel)
			}
			return out.print(cmd.OutOrStdout(), searchTable(found, table))
		},
	}
	f := cmd.Flags()
	from.register(cmd)
	f.StringVar(&from.kernel, "kernel", "", "kernel whose times these are: one that comes with Presage, such as increment-ij, copy or stencil, or FILE.yaml:NAME; this or --binary")
	f.StringVar(&machine, "machine", "", "machine that they are of: a name (see presage machines) or a .yaml file")
	f.StringVar(&supplement, "supplement", "", "YAML file of what its description does not say: which caches block, what they are indexed by")
	f.Float64Var(&request.AbsErr, "abs-err", 0, "error in seconds that a model may have; this or --rel-err")
	f.Float64Var(&request.RelErr, "rel-err", 0, "relative error that a model may have, such as 0.1")
	f.Float64Var(&request.Share, "share", 0.9, "share of the sizes that must be within it, from 0 to 1")
	f.BoolVar(&cheapest, "cheapest", false, "of the models within it choose the cheapest, not the most precise")
	f.BoolVar(&coloured, "coloured", false, "the operating system colours pages: physically indexed caches see the program's own addresses")
	f.BoolVar(&report, "report", false, "search the factors of Hsu and Kremer's report alone")
	f.StringVar(&opt.Extend, "factors", "", "YAML file of factors and models to add")
	f.StringSliceVar(&opt.Without, "without", nil, "models to leave out, such as pages,MEM")
	f.StringSliceVar(&opt.Time, "time", nil, "columns of times in seconds, each a run")
	f.StringArrayVar(&only, "where", nil, "use only rows with column=value; repeat for more")
	f.StringVar(&table, "table", "candidates", "what to print: "+strings.Join(searchTables, ", "))
	out.register(cmd)
	if err := cmd.MarkFlagRequired("machine"); err != nil {
		panic(err) // it is defined above
	}
	return cmd
}
