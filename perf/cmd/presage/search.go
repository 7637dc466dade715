package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/study/kernels"
)

// searchTables are the tables that search-models can print.
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

// readTimes reads a table and keeps the rows that satisfy every condition of only,
// each column=value.
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

// searchFlags are the flags of search-models.
type searchFlags struct {
	out                 output
	request             iperf.Request
	opt                 perf.SearchOptions
	from                binaryFlags
	machine, supplement string
	table               string
	only                []string
	cheapest, coloured  bool
	report              bool
}

func searchCommand() *cobra.Command {
	var s searchFlags
	cmd := &cobra.Command{
		Use:   "search-models TIMES.csv",
		Short: "Find the smallest model that explains measured times, or why there is none",
		Long: `search-models reads times of a kernel at several sizes, as presage measure
writes them, and finds which factors of a machine (computation, TLB, each cache,
page placement) a model must include to predict a share of the sizes within an
error. The kernel is either described (--kernel) or found by static analysis of a
routine of a binary (--binary, --routine; presage kernel shows the result).

Times are in the only column of meas_time_sec, sim_time_sec and time_sec, or in
those of --time; rows of the same size are its runs. If no model meets the request,
standard error says why, and the tables describe the best one.`,
		Example: `  presage search-models times.csv --kernel increment-ij --machine ultrasparc-1 --abs-err 0.005 --share 0.9
  presage search-models times.csv --kernel mine.yaml:loop --machine here.yaml --rel-err 0.1 --share 0.9 --cheapest --table sensitivities
  presage search-models times.csv --binary ./a.out --routine kernel_ij --overlay ij.yaml --machine here.yaml --rel-err 0.1 --share 0.9
  presage search-models datasets/iperf/simulated.csv --where machine=ultrasparc-2 --where level=O3 --where placement=anywhere --kernel increment-ij --machine ultrasparc-2 --abs-err 0.002 --share 0.99 --report --table peaks`,
		Args: cobra.ExactArgs(1),
		RunE: s.search,
	}
	f := cmd.Flags()
	s.from.register(cmd)
	f.StringVar(&s.from.kernel, "kernel", "", "kernel that was timed: one that comes with Presage, such as increment-ij, copy or stencil, or FILE.yaml:NAME; this or --binary")
	f.StringVar(&s.machine, "machine", "", "machine that was timed: a name (see presage machines) or a .yaml file")
	f.StringVar(&s.supplement, "supplement", "", "YAML file of facts missing from its description: which caches block, how they are indexed")
	f.Float64Var(&s.request.AbsErr, "abs-err", 0, "largest acceptable error in seconds; this or --rel-err")
	f.Float64Var(&s.request.RelErr, "rel-err", 0, "largest acceptable relative error, such as 0.1")
	f.Float64Var(&s.request.Share, "share", 0.9, "share of the sizes that must be within it, from 0 to 1")
	f.BoolVar(&s.cheapest, "cheapest", false, "choose the cheapest acceptable model, not the most precise")
	f.BoolVar(&s.coloured, "coloured", false, "the operating system colours pages: physically indexed caches see the program's own addresses")
	f.BoolVar(&s.report, "report", false, "search only the factors of Hsu and Kremer's report")
	f.StringVar(&s.opt.Extend, "factors", "", "YAML file of factors and models to add")
	f.StringSliceVar(&s.opt.Without, "without", nil, "models to leave out, such as pages,MEM")
	f.StringSliceVar(&s.opt.Time, "time", nil, "columns of times in seconds, each a run")
	f.StringArrayVar(&s.only, "where", nil, "use only rows with column=value; repeat for more")
	f.StringVar(&s.table, "table", "candidates", "what to print: "+strings.Join(searchTables, ", "))
	s.out.register(cmd)
	if err := cmd.MarkFlagRequired("machine"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// search searches the models and prints one of the tables.
func (s *searchFlags) search(cmd *cobra.Command, args []string) error {
	if err := s.out.check(); err != nil {
		return err
	}
	if !slices.Contains(searchTables, s.table) {
		return fmt.Errorf("--table %q: want one of %s", s.table, strings.Join(searchTables, ", "))
	}
	times, err := readTimes(args[0], s.only)
	if err != nil {
		return err
	}
	kernel, analysed, err := s.from.find(cmd.Context())
	if err != nil {
		return err
	}
	if analysed != nil {
		warn(cmd.ErrOrStderr(), analysed.Notes)
	}
	system, err := kernels.FindSystem(s.machine, s.supplement)
	if err != nil {
		return err
	}
	if s.coloured {
		system.Placement = iperf.Coloured
	}
	if s.cheapest {
		s.request.Criterion = iperf.Cheapest
	}
	if s.report {
		s.opt.Database = iperf.ReportDatabase()
	}
	found, err := perf.SearchModels(cmd.Context(), times, kernel, system, s.request, s.opt)
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
	}
	if found.NoModel != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), found.NoModel)
	}
	return s.out.print(cmd.OutOrStdout(), searchTable(found, s.table))
}
