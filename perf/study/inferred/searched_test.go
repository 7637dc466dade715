package inferred

import (
	"testing"

	"presage/perf/infer"
)

// A search in place of all terms has their variables, powers, response and ridge, and
// with Known nothing is judged but software that models were fitted to.
func TestSearchedInPlaceOfAllTerms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	direct := Options{Variables: Portable}.withDefaults()
	o := Options{Variables: Portable, Searched: true, Known: true, Search: infer.SearchOptions{Population: 12, Generations: 2, Workers: 1}}
	searched := o.withDefaults()
	if !direct.Direct || searched.Direct {
		t.Fatalf("direct: %v, searched: %v", direct.Direct, searched.Direct)
	}
	if a, b := direct.Search, searched.Search; a.Ridge != b.Ridge || a.Powers != b.Powers || a.Scaling != b.Scaling || a.Ridge == 0 {
		t.Errorf("all terms with ridge %g, powers %d, %+v; a search with %g, %d, %+v", a.Ridge, a.Powers, a.Scaling, b.Ridge, b.Powers, b.Scaling)
	}
	f := runStudy(t, o, inventedProfiles())
	if len(f.Generations) != 3 || len(f.Specs) == 0 {
		t.Errorf("%d generations, %d specs: nothing was searched for", len(f.Generations), len(f.Specs))
	}
	seen := make(map[string]int)
	for _, p := range f.Predictions {
		seen[p.Scenario]++
	}
	if len(seen) != 2 || seen[Interpolation] == 0 || seen[NewHardware] == 0 {
		t.Errorf("judged: %v, want known software on known and on new hardware", seen)
	}
	all := runStudy(t, Options{Variables: Portable, Known: true}, inventedProfiles())
	if len(all.Generations) != 0 || len(all.Predictions) != len(f.Predictions) {
		t.Errorf("all terms: %d generations, %d predictions beside %d: not the same rows", len(all.Generations), len(all.Predictions), len(f.Predictions))
	}
}

// A joint search starts from all terms, so that the fittest of its first generation is
// no less fit than they are under the default ridge, and judges known software alone.
func TestJointSearchStartsFromAllTerms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	p := inventedProfiles()
	o := Options{Variables: Portable, Joint: true, Search: infer.SearchOptions{Population: 6, Generations: 1, Workers: 1}}
	f := runStudy(t, o, p)
	if len(f.Generations) != 2 {
		t.Fatalf("%d generations, two were asked for", len(f.Generations))
	}
	r, err := o.runner(p)
	if err != nil {
		t.Fatal(err)
	}
	table := p.Table(r.choose(everyShard, Train), Portable)
	all := r.everything(len(table.Names))
	opt := r.Search
	opt.Joint, opt.Population, opt.Generations, opt.Start = true, 2, 0, []infer.Spec{all, all}
	found, err := infer.Search(t.Context(), table, opt)
	if err != nil {
		t.Fatal(err)
	}
	if whole := found.History[0].Best; f.Generations[0].Best > whole || f.Generations[1].Best > f.Generations[0].Best {
		t.Errorf("sums of medians %g and %g, of all terms %g", f.Generations[0].Best, f.Generations[1].Best, whole)
	}
	for _, q := range f.Predictions {
		if q.Scenario != Interpolation && q.Scenario != NewHardware {
			t.Fatalf("judged by %s", q.Scenario)
		}
	}
}
