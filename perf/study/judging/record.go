package judging

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"presage/perf/misses/replayed"
	"presage/perf/study/record"
)

// MissesFile is the file of misses that findings are recorded in, after the prefix of
// its name.
const MissesFile = "-misses.csv"

// The other files likewise.
const (
	cyclesFile = "-cycles.csv"
	failedFile = "-failed.csv"
)

// Record records the tables in files whose names begin with prefix, and lists them in
// recordings.csv beside them. command makes them again.
func (f *Findings) Record(prefix, command string) error {
	from := record.Source{Origin: "predicted and simulated by presage; " + f.programs(), Command: command}
	return errors.Join(
		record.Write(prefix+MissesFile, f.Misses, from),
		record.Write(prefix+cyclesFile, f.Cycles, from),
		record.Write(prefix+failedFile, f.Failed, from),
	)
}

// programs names the programs that were judged, in their order.
func (f *Findings) programs() string {
	var names []string
	for i := range f.Misses {
		if name := f.Misses[i].Program; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// Load reads findings that Record wrote.
func Load(prefix string) (*Findings, error) {
	misses, err := record.Read[MissRow](prefix + MissesFile)
	if err != nil {
		return nil, err
	}
	cycles, err := record.Read[CycleRow](prefix + cyclesFile)
	if err != nil {
		return nil, err
	}
	failed, err := record.Read[Failure](prefix + failedFile)
	if err != nil {
		return nil, err
	}
	return &Findings{Misses: misses.Rows, Cycles: cycles.Rows, Failed: failed.Rows}, nil
}

// headlineStudy returns the name of this study among the headlines.
func headlineStudy(opt *HeadlineOptions) string {
	study := "judging suite"
	if opt.Native {
		study = "judging suite, native"
	}
	switch opt.Half {
	case All:
	case Fresh:
		study += ", fresh programs"
	case Second:
		study += ", second fresh programs"
	case Third:
		study += ", third fresh programs"
	default:
		study += fmt.Sprintf(", %s half", opt.Half)
	}
	if opt.Again {
		study += ", by the models of now"
	}
	return study
}

// goals are those of the errors of each class.
var goals = map[string]string{
	ClassManyWays: "<=0.01; p90<=0.1",
	ClassFewWays:  "<=0.03; p90<=0.2",
	ClassTLB:      "<=0.05; p90<=0.25",
	ClassCycles:   "<=0.1; p90<=0.25",
}

// questions are those of the README's readers, by class.
var questions = map[string]string{
	ClassManyWays: "How far off are predicted misses, in caches of 4 ways and more?",
	ClassFewWays:  "In caches of 1 or 2 ways, where addresses collide?",
	ClassTLB:      "In TLBs?",
	ClassCycles:   "How far off are predicted cycles?",
}

// askedOf are questions of programs that were written afterwards, by their half.
var askedOf = map[Half]string{
	Fresh:  "And of programs that were written after models and constants were done?",
	Second: "And of programs written after those had been looked at, and models improved?",
}

// HeadlineOptions say what findings are of, which they do not know themselves.
type HeadlineOptions struct {
	Half      Half   // the programs that were judged
	Native    bool   // as Options.Native
	PageBytes uint64 // as Options.PageBytes
	Again     bool   // by the models of now, of programs whose first judgement stands
	Command   string // that makes the findings again
	// Beside are findings of the open half, to stand beside those of the closed one: how
	// predictions do on programs that could be looked at while they were improved. Beside
	// those of programs written afterwards they are of the closed half. nil: none.
	Beside *Findings
	// Together are findings of other programs that intervals are not calibrated on, to tell
	// how many of all their intervals hold the truth.
	Together []*Findings
}

// Headlines returns the results that predictions are judged by, of each class: the
// errors; beside them those of the n³ baseline and of the models of distances alone;
// the rows that are far off without a warning; and the share of intervals that hold
// the truth.
func (f *Findings) Headlines(opt HeadlineOptions) []record.Headline {
	var all []record.Headline
	for _, s := range f.Summary() {
		class := f.ofClass(s.Class)
		base := record.Headline{Study: headlineStudy(&opt), Unit: record.Relative, Command: opt.Command}
		about := f.judged(s.Class, &opt)

		errs := base
		errs.Metric, errs.Goal = about, goals[s.Class]
		switch {
		case opt.Native || opt.Again:
		case opt.Half.afterwards() && s.Class == ClassManyWays:
			errs.Question = askedOf[opt.Half]
		case opt.Half == Closed || opt.Half == All: // readers ask of programs that nobody worked with
			errs.Question = questions[s.Class]
		}
		all = append(all, errs.WithSample(valuesOf(class, func(o *outcome) float64 { return o.err })))
		beside := base
		beside.Beside = errs.Metric
		beside.Metric = "n³ from the largest training size"
		all = append(all, beside.WithSample(valuesOf(class, func(o *outcome) float64 { return o.baseline })))
		if opt.Beside != nil {
			beside.Metric = fmt.Sprintf("the %s half", opt.Half.Beside())
			class := opt.Beside.ofClass(s.Class)
			all = append(all, beside.WithSample(valuesOf(class, func(o *outcome) float64 { return o.err })))
		}
		if strings.Contains(errs.Metric, replayed.MethodStart) {
			beside.Metric = "without the start of the run"
			all = append(all, beside.WithSample(valuesOf(class, func(o *outcome) float64 { return o.withoutStart })))
		}
		if s.Class != ClassCycles {
			beside.Metric = "models alone, fully associative against fully associative"
			all = append(all, beside.WithSample(valuesOf(class, func(o *outcome) float64 { return o.model })))
		}

		unwarned := base
		unwarned.Metric, unwarned.Goal, unwarned.Unit = fmt.Sprintf("%s: rows of %d off by more than %d times without a warning", s.Class, s.Rows, Gross), "<=0", "rows"
		all = append(all, unwarned.Single(float64(s.Unwarned)))
		if s.Class != ClassCycles {
			all = append(all, intervalHeadlines(base, &s, class, &opt)...)
		}
	}
	return all
}

// intervalHeadlines returns the share of the intervals of a class that hold the truth, and
// how wide they are; of programs written afterwards also the share together with those
// beside them, and with all that they may be told together with.
func intervalHeadlines(base record.Headline, s *SummaryRow, class []outcome, opt *HeadlineOptions) []record.Headline {
	inside := base
	inside.Metric, inside.Goal = fmt.Sprintf("%s: share of the intervals of 90%%, calibrated on %s, that hold the truth", s.Class, calibratedOn(opt.Half)), ">=0.85; <=0.95"
	width := base
	width.Metric, width.Beside = "their half widths, relative to the predictions", inside.Metric
	all := []record.Headline{inside.Single(s.Intervals), width.WithSample(magnitudes(class, (*outcome).halfWidth))}
	if opt.Half.afterwards() && opt.Beside != nil {
		beside := inside
		beside.Metric += ", of these and the closed half's together"
		all = append(all, beside.Single(held(slices.Concat(class, opt.Beside.ofClass(s.Class)))))
	}
	if len(opt.Together) > 0 {
		every := slices.Clone(class)
		for _, f := range opt.Together {
			every = append(every, f.ofClass(s.Class)...)
		}
		inside.Metric += fmt.Sprintf(", of all %d programs that none is calibrated on", len(programsOf(every)))
		all = append(all, inside.Single(held(every)))
	}
	return all
}

// calibratedOn names the programs that intervals are calibrated on, as far as those of a
// half are among them.
func calibratedOn(half Half) string {
	switch half {
	case Open:
		return "these and 18 other programs"
	case Closed, Fresh, Second, Third:
		return "31 other programs"
	}
	return "31 programs, some of them here"
}

// ofHalf names the half that programs are of, after their number.
func ofHalf(half Half) string {
	switch half {
	case All:
		return ""
	case Fresh:
		return " written afterwards"
	case Second:
		return " written after that, too"
	case Third:
		return " written after those"
	}
	return fmt.Sprintf(" of the %s half", half)
}

// ofClass returns the outcomes of a class.
func (f *Findings) ofClass(class string) []outcome {
	return slices.DeleteFunc(f.outcomes(), func(o outcome) bool { return o.class != class })
}

// judged says what was judged of a class, and how.
func (f *Findings) judged(class string, opt *HeadlineOptions) string {
	programs := map[string]bool{}
	least, most := math.Inf(1), 0.0
	see := func(program string, growth float64) {
		programs[program] = true
		least, most = min(least, growth), max(most, growth)
	}
	if class == ClassCycles {
		for i := range f.Cycles {
			see(f.Cycles[i].Program, f.Cycles[i].Growth)
		}
		return fmt.Sprintf("cycles of %d programs%s, %.3g to %.3g times the largest training size: predicted against the simulated core", len(programs), ofHalf(opt.Half), least, most)
	}
	methods := map[string]bool{}
	for i := range f.Misses {
		if r := &f.Misses[i]; r.Class == class && r.Sim >= MinMisses {
			see(r.Program, r.Growth)
			for _, method := range strings.Split(r.Method, ", ") { // of a part of its misses each
				methods[method] = true
			}
		}
	}
	how, placed := strings.Join(slices.Sorted(maps.Keys(methods)), ", "), "the program's addresses"
	if opt.PageBytes > 0 {
		placed = fmt.Sprintf("pages of %d bytes in random places", opt.PageBytes)
	}
	of := "programs"
	if opt.Native {
		of = "native programs"
	}
	return fmt.Sprintf("misses of %d %s%s, %s, %.3g to %.3g times the largest training size: predicted (%s) against simulated with %s", len(programs), of, ofHalf(opt.Half), class, least, most, how, placed)
}

// valuesOf returns a figure of each outcome.
func valuesOf(of []outcome, get func(*outcome) float64) []float64 {
	values := make([]float64, len(of))
	for i := range of {
		values[i] = get(&of[i])
	}
	return values
}
