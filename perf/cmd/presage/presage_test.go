package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/google/go-cmp/cmp"
	"github.com/kballard/go-shellquote"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/study/record"
	"presage/perf/timing"
)

// presage runs the command with arguments.
func presage(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := rootCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, _, err := presage(t, args...)
	if err != nil {
		t.Fatalf("presage %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func header(t *testing.T, text string) []string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) < 2 {
		t.Fatalf("no table (%v): %s", err, text)
	}
	return records[0]
}

const program = "../../../datasets/programs/sweep3d"

// TestProfilePredictSimulate profiles, predicts and simulates at toy sizes.
func TestProfilePredictSimulate(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	got := must(t, "profile", program, "--sweep", "n=6,7,8,9", "--args", "-n {n} -iterations 1",
		"--machine", "origin2000", "-o", dir, "--format", "csv", "-q")
	if diff := cmp.Diff([]string{"program", "n", "instructions", "accesses", "stack_accesses", "footprint_bytes"}, header(t, got)); diff != "" {
		t.Error(diff)
	}
	bare := t.TempDir()
	if all, data := got, must(t, "profile", program, "--sweep", "n=6,7,8,9", "--args", "-n {n} -iterations 1", "--stack=false",
		"--machine", "origin2000", "-o", bare, "--format", "csv", "-q"); strings.Contains(data, ",0,") || !strings.Contains(all, ",0,") {
		t.Errorf("accesses to the stack: without --stack\n%s\nwith it\n%s", data, all)
	}
	for folder, told := range map[string]bool{dir: false, bare: true} {
		if text := must(t, "predict", folder, "--machine", "origin2000", "--at", "n=12"); strings.Contains(text, "without the traffic of the stack") != told {
			t.Errorf("traffic of the stack left out %t, and it prints\n%s", told, text)
		}
	}
	pred := must(t, "predict", dir, "--machine", "origin2000", "--at", "n=12:14:1", "--format", "json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(pred), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 9 || rows[0]["level"] != "L1" || rows[8]["n"] != 14.0 || rows[0]["pred_misses"].(float64) <= 0 {
		t.Errorf("got %v", rows)
	}
	for by, want := range map[string]string{"routine": "main.solveLine", "loop": "main.solveLine/loop@sweep.go"} {
		if text := must(t, "predict", dir, "--machine", "origin2000", "--at", "n=12", "--by", by); !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if text := must(t, "predict", dir, "--machine", "origin2000", "--at", "n=12", "--by", "routine", "--limit", "2", "--format", "csv"); strings.Count(text, "\n") != 1+3*3 || strings.Count(text, ",other,") != 3 {
		t.Errorf("two routines of each level and the others: %s", text)
	}
	if _, _, err := presage(t, "predict", dir, "--machine", "origin2000", "--at", "n=12", "--min-share", "2"); err == nil || !strings.Contains(err.Error(), "from 0 to 1") {
		t.Errorf("a share of 2: %v", err)
	}
	if _, _, err := presage(t, "predict", dir, "--machine", "origin2000", "--at", "n=12", "--at", "m=3"); err == nil || !strings.Contains(err.Error(), "no parameter m") {
		t.Errorf("a parameter in vain: %v", err)
	}
	sim := must(t, "simulate", program, "--args", "-n 6 -iterations 1", "--machine", "itanium2", "--format", "csv", "-q")
	if strings.Count(sim, "\n") != 6 || !strings.Contains(sim, "sweep3d,itanium2,L2 TLB,") {
		t.Errorf("got %s", sim)
	}
	if ahead := must(t, "simulate", program, "--args", "-n 6 -iterations 1", "--machine", "zen4", "--prefetch", "--accesses-per-cycle", "0.5", "--format", "csv", "-q"); strings.Count(ahead, "\n") != 4 || !strings.Contains(ahead, "sim_covered_misses") {
		t.Errorf("got %s", ahead)
	}
	if _, _, err := presage(t, "predict", dir, "--machine", "origin2000", "--at", "n=12", "--prefetch"); err == nil || !strings.Contains(err.Error(), "no prefetchers are described") {
		t.Errorf("a machine without prefetchers: %v", err)
	}
	if _, _, err := presage(t, "predict", dir, "--machine", "origin2000", "--at", "n=12", "--accesses-per-cycle", "2"); err == nil || !strings.Contains(err.Error(), "with --prefetch") {
		t.Errorf("a rate without --prefetch: %v", err)
	}
	if _, _, err := presage(t, "predict", dir, "--machine", "zen4", "--at", "n=12", "--prefetch", "--coverage", "0.5"); err == nil || !strings.Contains(err.Error(), "--coverage is of intervals") {
		t.Errorf("coverage with --prefetch: %v", err)
	}
	prefetching := filepath.Join(t.TempDir(), "ahead.yaml")
	description := "title: T\nprocessor: P\ncaches:\n  - {name: L1, capacity: 4 KiB, block: 32 B, ways: 2, source: [made]}\n" +
		"prefetch:\n  - {name: ones, kind: next line, at: L1, source: [made]}\nsources: {made: up}\n"
	if err := os.WriteFile(prefetching, []byte(description), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := must(t, "predict", dir, "--machine", prefetching, "--at", "n=12", "--prefetch", "--format", "csv"); strings.Count(text, "\n") != 2 || !strings.Contains(text, "pred_covered_misses") {
		t.Errorf("predicted prefetching: %s", text)
	}
	roof := filepath.Join(t.TempDir(), "roof.svg")
	if text := must(t, "roofline", dir, "--machine", "origin2000", "--at", "n=12,16", "--by", "routine", "--limit", "2", "--figure", roof, "--format", "csv"); strings.Count(text, "\n") != 1+2*2*3 || !strings.Contains(text, ",memory,") {
		t.Errorf("two routines at two sizes, three levels: %s", text)
	}
	if svg, err := os.ReadFile(roof); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("drew %d bytes, error %v", len(svg), err)
	}
	if _, _, err := presage(t, "roofline", dir, "--machine", "origin2000", "--at", "n=12", "--figure", "roof.gif"); err == nil || !strings.Contains(err.Error(), ".png, .svg or .pdf") {
		t.Errorf("a figure of another kind: %v", err)
	}
	hist := must(t, "histogram", dir, "--routine", "main.solveLine", "--format", "csv")
	if diff := cmp.Diff([]string{"program", "n", "block_bytes", "lo_blocks", "hi_blocks", "accesses", "cold_accesses"}, header(t, hist)); diff != "" {
		t.Error(diff)
	}
	if hot := must(t, "histogram", dir, "--hottest", "3"); strings.Count(hot, "\n") != 4 {
		t.Errorf("got %s", hot)
	}
	if _, _, err := presage(t, "predict", dir, "--machine", "origin2000", "--at", "k=12"); err == nil || !strings.Contains(err.Error(), "no parameter k") {
		t.Errorf("another parameter: %v", err)
	}
}

func TestMachines(t *testing.T) {
	if got := must(t, "machines"); !strings.Contains(got, "origin2000") || !strings.Contains(got, "itanium2") {
		t.Errorf("got %s", got)
	}
	got := must(t, "machines", "origin2000", "--format", "csv")
	if !strings.Contains(got, "origin2000,L2,cache,65536,32768,2,128,8388608,false,11,marin2004 marin2005") {
		t.Errorf("got %s", got)
	}
	got = must(t, "machines", "origin2000")
	for _, want := range []string{
		"  Instructions execute out of order, up to 48 in flight at once.\n",
		"  fp multiply                                       2   1       FP multiplier\n",
		"  L2: 8 MiB in blocks of 128 B, 2-way, LRU replacement, writes back; a hit takes 11 cycles.\n",
		"  A load that misses everywhere takes 92 cycles, in a sequence of such 116 cycles.\n",
		"  50% of the latency beyond L1, at each of its misses\n",
		"the papers' predictions assume LRU.\n\n  Integer",
		"  marin2005: G. Marin, J. Mellor-Crummey: Scalable",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	got = must(t, "machines", "origin2000", "--classes", "--format", "csv")
	for _, want := range []string{
		"machine,class,latency_cycles,per_cycle,units,queue,timed_as\n",
		"\norigin2000,alu,1,2,ALU1 or ALU2,integer,alu\n",
		"\norigin2000,csr,1,2,ALU1 or ALU2,integer,alu\n",
	} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestMachinesDiff(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	got := must(t, "machines", "diff", "ultrasparc-1", "ultrasparc-2", "--format", "csv")
	for _, want := range []string{
		"property,unit,a,b\n",
		"\nL2 capacity,bytes,524288,2097152\n",
		"\nmemory restart latency,cycles,,90\n", // not known of the first
	} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "issue width") {
		t.Errorf("both issue 4 a cycle: %s", got)
	}
}

// TestClassesOfAnUndescribedCore checks that a machine without a described core
// gives an error and not an empty table.
func TestClassesOfAnUndescribedCore(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	file := filepath.Join(t.TempDir(), "plain.yaml")
	text := `title: Plain
processor: none
core: {frequency: 1 GHz, source: [made]}
caches:
  - {name: L1, capacity: 32 KiB, block: 64 B, ways: 8, source: [made]}
sources: {made: up}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := must(t, "machines", file); !strings.Contains(got, "The core is not described") {
		t.Errorf("got %s", got)
	}
	if _, _, err := presage(t, "machines", file, "--classes"); err == nil || !strings.Contains(err.Error(), "units and classes under core") {
		t.Errorf("got %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"profile nowhere --sweep n=1 -o " + dir, "no such file"},
		{"profile " + program + " -o " + dir, "no sizes"},
		{"profile " + program + " --sweep n=1", `required flag(s) "output"`},
		{"profile " + program + " --sweep n -o " + dir, "want name=value"},
		{"profile " + program + " --sweep n=x -o " + dir, `"x" is not a number`},
		{"profile " + program + " --sweep n=5:1:1 -o " + dir, "first <= last"},
		{"profile " + program + " --sweep n=5 --sweep n=6 -o " + dir, "given twice"},
		{"profile " + program + " --sweep n=5 --block 48 -o " + dir + " -q", "48"},
		{"profile " + program + " --sweep n=5 --block 0 -q -o " + dir, "block size of 0"},
		{"profile " + program + " --sweep n=5,5 -q -o " + dir, `"n=5" is asked for twice`},
		{"profile " + program + " --sweep level=5 -q -o " + dir, "name of a column"},
		{"profile " + program + " --sweep n=1:400:1 --sweep m=1:400:1 -q -o " + dir, "160000 points"},
		{"profile " + program + " --sweep n=5 --output=", "want the name of a folder"},
		{"profile " + program + " --sweep n=5 --dir data=. -o " + dir, "want an absolute path"},
		{"profile " + program + " --sweep n=5 --dir /data=.:rw:dev -o " + dir, "leave :rw out"},
		{"profile " + program + " --sweep n=5 --stdin nowhere -o " + dir, "no such file"},
		{"profile " + program + " --sweep n=5 --machine cray1 -o " + dir, "there are"},
		{"profile " + program + " --sweep n=5 --format xml -o " + dir, `"xml"`},
		{"profile presage_test.go --sweep n=5 -o " + dir, "not an ELF file"},
		{"predict " + dir + " --machine origin2000 --at n=5", "holds no profiles"},
		{"predict " + dir + " --machine cray1 --at n=5", "there are alpha-ev68, apple-m1"},
		{"predict " + dir + " --machine origin2000", "no sizes"},
		{"simulate " + program + " --machine origin2000 --args '-n -q", "-n"},
		{"simulate " + program + " --machine origin2000 --prefetch", "no prefetchers are described"},
		{"simulate " + program + " --machine zen4 --prefetch --time --accesses-per-cycle 2", "give one of the two"},
		{"simulate " + program + " --machine zen4 --prefetch --fully-associative", "give one of the two"},
		{"simulate " + program + " --machine zen4 --accesses-per-cycle 2", "give it with --prefetch"},
		{"simulate " + program + " --machine zen4 --intervals 20", "give it with --time"},
		{"simulate " + program + " --machine zen4 --time --intervals 1", "two or more"},
		{"simulate " + program + " --machine zen4 --time --history 5000", "give them with --intervals"},
		{"simulate " + program + " --machine zen4 --time --intervals 20 --by routine", "ask for the whole program"},
		{"simulate " + program + " --machine zen4 --prefetch --accesses-per-cycle 0", "above 0"},
		{"machines cray1", "there are"},
		{"machines --classes", "name it"},
		{"machines zen4 power3", "at most 1"},
		{"machines diff zen4", "accepts 2 arg(s)"},
		{"machines diff zen4 cray1", "there are"},
		{"machines diff cray1 zen4", "there are"},
		{"machines diff zen4 power3 --format xml", `"xml"`},
		{"nonsense", "unknown command"},
	} {
		_, _, err := presage(t, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("presage %s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestSweepFlag(t *testing.T) {
	var s sweepFlag
	for _, text := range []string{"n=20,26:28:1", "m=0.5"} {
		if err := s.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	want := []perf.Point{{"n": 20, "m": 0.5}, {"n": 26, "m": 0.5}, {"n": 27, "m": 0.5}, {"n": 28, "m": 0.5}}
	if diff := cmp.Diff(want, s.points); diff != "" {
		t.Error(diff)
	}
}

func TestHelpHasExamples(t *testing.T) {
	for _, name := range []string{"profile", "predict", "simulate", "histogram", "machines"} {
		if got := must(t, name, "--help"); !strings.Contains(got, "Examples:") {
			t.Errorf("%s --help has no example", name)
		}
	}
}

// recorded reads a recorded table and its origin.
func recorded(t *testing.T, path string) (dataframe.DataFrame, record.Recording) {
	t.Helper()
	text, err := record.ReadText(path)
	if err != nil {
		t.Fatal(err)
	}
	df, err := perf.Recorded(path)
	if err != nil {
		t.Fatal(err)
	}
	return df, text.Recording
}

// TestValidateRecords judges a model at toy sizes and reads the recording.
func TestValidateRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	file := filepath.Join(t.TempDir(), "v.csv")
	args := []string{
		"validate", program, "--args", "-n {n} -iterations 1", "--machine", "origin2000",
		"--train", "n=6:9:1", "--at", "n=12", "--format", "csv", "--record", file, "-q",
	}
	rows := must(t, args...)
	df, r := recorded(t, file)
	if df.Nrow() != strings.Count(rows, "\n")-1 {
		t.Errorf("%d rows recorded of\n%s", df.Nrow(), rows)
	}
	want := "presage validate " + program + " '--args=-n {n} -iterations 1' --at n=12 --format=csv --machine=origin2000 --quiet=true --record=" + file + " --train n=6:9:1"
	if diff := cmp.Diff(want, r.Command); diff != "" {
		t.Error(diff)
	}
	words, err := shellquote.Split(r.Command)
	if err != nil {
		t.Fatal(err)
	}
	if again := must(t, words[1:]...); again != rows {
		t.Errorf("the recorded command gave\n%s\nand the first\n%s", again, rows)
	}
	if got := must(t, append(args, "--summary", "of,level")...); !strings.Contains(got, "program TLB,rel_err,1,") {
		t.Errorf("summary:\n%s", got)
	}
	for _, share := range []string{"-1", "2", "nan"} {
		_, _, err := presage(t, "validate", program, "--machine", "origin2000", "--train", "n=6:9:1", "--at", "n=12", "--min-share", share)
		if err == nil || !strings.Contains(err.Error(), "--min-share") {
			t.Errorf("--min-share %s: %v", share, err)
		}
	}
	if _, _, err := presage(t, "validate", program, "--machine", "origin2000", "--at", "n=12"); err == nil || !strings.Contains(err.Error(), "--train") {
		t.Errorf("no training sizes: %v", err)
	}
}

// TestTime predicts times from profiles, and simulates them.
func TestTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	must(t, "profile", program, "--sweep", "n=6,8,10,12", "--args", "-n {n} -iterations 1", "--machine", "origin2000", "-o", dir, "-q")
	got := must(t, "time", dir, "--machine", "origin2000", "--at", "n=12,16", "--format", "csv")
	want := []string{
		"program", "n", "machine", "scope", "pred_instructions", "pred_schedule_cycles", "pred_flow_cycles", "pred_branch_wait_cycles",
		"pred_L1_wait_cycles", "pred_L2_wait_cycles", "pred_TLB_wait_cycles", "pred_cycles", "pred_time_sec", "pred_cpi", "pred_limit", "pred_warning",
	}
	if diff := cmp.Diff(want, header(t, got)); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(got, "\n"); n != 3 {
		t.Errorf("%d lines, want a header and two rows:\n%s", n, got)
	}
	sim := must(t, "simulate", program, "--time", "--sweep", "n=12", "--args", "-n {n} -iterations 1", "--machine", "origin2000", "--format", "csv", "-q")
	if !strings.Contains(sim, "sim_cycles") || strings.Contains(sim, "sim_misses") {
		t.Errorf("simulated time:\n%s", sim)
	}
	sampled := must(t, "simulate", program, "--time", "--intervals", "20", "--interval-length", "5000", "--sweep", "n=12", "--args", "-n {n} -iterations 1", "--machine", "origin2000", "--format", "csv", "-q")
	if !strings.Contains(sampled, "sim_cycles_low") || !strings.Contains(sampled, timing.SampledReference) || strings.Contains(sampled, "sim_base_cycles") {
		t.Errorf("time simulated by sampled intervals:\n%s", sampled)
	}
	for _, args := range [][]string{
		{"time", dir, "--machine", "origin2000"},
		{"time", dir, "--machine", "itanium2", "--at", "n=12"},
		{"time", dir, "--machine", "origin2000", "--at", "n=12", "--by", "reference"},
		{"simulate", program, "--time", "--machine", "sifive-u74", "--args", "-n 6"},
	} {
		if _, _, err := presage(t, args...); err == nil {
			t.Errorf("presage %s: no error", strings.Join(args, " "))
		}
	}
}

// TestStudy records its tables, which perf.Recorded takes, and times of scopes alone.
func TestStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	prefix := filepath.Join(t.TempDir(), "new", "tiny")
	sizes := []string{"--train", "n=6:9:1", "--at", "n=12", "--curve", "n=8,10", "--time-at", "n=8"}
	must(t, append([]string{"study", program, "--args", "-n {n} -iterations 1", "--machine", "origin2000", "-q", "--record", prefix}, sizes...)...)
	for table, want := range map[string]string{"misses": "rel_err", "curves": "pred_misses", "times": "sim_cycles", "scopetimes": "rel_err_n3"} {
		df, rec := recorded(t, prefix+"-"+table+".csv")
		if !slices.Contains(df.Names(), want) || !strings.HasPrefix(rec.Command, "presage study ") {
			t.Errorf("%s: columns %v, made by %q", table, df.Names(), rec.Command)
		}
	}
	if _, _, err := presage(t, "study", program, "--machine", "origin2000", "--record", prefix, "--train", "n=6:9:1", "--at", "n=12"); err == nil || !strings.Contains(err.Error(), "--curve") {
		t.Errorf("no curve: %v", err)
	}
	timesAlone := []string{"study", program, "--args", "-n {n} -iterations 1", "--machine", "origin2000", "-q", "--record", prefix + "-alone", "--scope-times", "--train", "n=6:9:1", "--time-at", "n=8"}
	must(t, timesAlone...)
	if _, err := os.Stat(prefix + "-alone-times.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("times of a program without a curve: %v", err)
	}
	must(t, append(timesAlone, "--curve", "n=8,10")...)
	for _, table := range []string{"times", "scopetimes"} {
		all, _ := recorded(t, prefix+"-"+table+".csv")
		alone, rec := recorded(t, prefix+"-alone-"+table+".csv")
		if frame.String(alone) != frame.String(all) || !strings.Contains(rec.Command, "--scope-times") {
			t.Errorf("%q made\n%s\nthe whole study\n%s", rec.Command, frame.String(alone), frame.String(all))
		}
	}
	for want, args := range map[string][]string{"--time-at": {"--scope-times"}, "choose one": {"--scope-times", "--recipe"}} {
		args = append([]string{"study", program, "--machine", "origin2000", "--record", prefix, "--train", "n=6:9:1"}, args...)
		if _, _, err := presage(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	sampled := []string{"study", program, "--args", "-n {n} -iterations 1", "--machine", "origin2000", "-q", "--record", prefix, "--train", "n=6:9:1", "--sample-at", "n=16", "--intervals", "10", "--history", "50000"}
	must(t, sampled...)
	df, rec := recorded(t, prefix+"-sampled.csv")
	if df.Nrow() != 1 || !slices.Contains(df.Names(), "pred_cycles") || !slices.Contains(df.Names(), "sim_cycles_high") || !strings.Contains(rec.Origin, timing.SampledReference) {
		t.Errorf("sampled: columns %v, of %q", df.Names(), rec.Origin)
	}
	if _, _, err := presage(t, append(sampled, "--time-at", "n=8")...); err == nil || !strings.Contains(err.Error(), "--sample-at") {
		t.Errorf("sampled, and simulated as a whole: %v", err)
	}
	for want, args := range map[string][]string{
		"--intervals does not go": append([]string{"--intervals", "5"}, sizes...),
		"--at does not go":        {"--scope-times", "--train", "n=6:9:1", "--time-at", "n=8", "--at", "n=12"},
		"not on the curve":        {"--scope-times", "--train", "n=6:9:1", "--time-at", "n=8", "--curve", "n=10"},
		"two or more":             {"--sample-at", "n=16", "--intervals", "1", "--train", "n=6:9:1"},
	} {
		args = append([]string{"study", program, "--args", "-n {n} -iterations 1", "--machine", "origin2000", "-q", "--record", prefix}, args...)
		if _, _, err := presage(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
