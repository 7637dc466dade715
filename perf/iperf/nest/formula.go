package nest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"presage/perf/access"
	"presage/perf/fit"
	"presage/perf/iperf"
)

// polynomial is a sum of texts with rational coefficients: a formula in the
// kernel's parameters.
type polynomial struct {
	constant fraction
	terms    []term // in the order of the binary's formula
}

type term struct {
	fraction
	text string
}

type fraction struct{ num, den int64 }

func (f fraction) plus(o fraction) fraction {
	if o.den == 0 {
		return f
	}
	if f.den == 0 {
		return o
	}
	n, d := f.num*o.den+o.num*f.den, f.den*o.den
	a, b := max(n, -n), d
	for b != 0 {
		a, b = b, a%b
	}
	return fraction{n / max(a, 1), d / max(a, 1)}
}

func (f fraction) String() string {
	if f.den <= 1 {
		return strconv.FormatInt(f.num, 10)
	}
	return fmt.Sprintf("%d/%d", f.num, f.den)
}

// add adds a text times a coefficient; a number is added to the constant.
func (p *polynomial) add(text string, by fraction) {
	if k, err := strconv.ParseInt(text, 10, 64); err == nil {
		p.constant = p.constant.plus(fraction{k * by.num, by.den})
		return
	}
	for i := range p.terms {
		if p.terms[i].text == text {
			p.terms[i].fraction = p.terms[i].plus(by)
			if p.terms[i].num == 0 {
				p.terms = slices.Delete(p.terms, i, i+1)
			}
			return
		}
	}
	p.terms = append(p.terms, term{by, text})
}

func (p *polynomial) zero() bool { return len(p.terms) == 0 && p.constant.num == 0 }

// rest returns the formula without its constant.
func (p *polynomial) rest() string {
	return (&polynomial{terms: p.terms}).String()
}

// String writes the formula with the constant last, as in 8*n + 16.
func (p *polynomial) String() string {
	var b strings.Builder
	put := func(f fraction, text string) {
		negative := f.num < 0
		f.num = max(f.num, -f.num)
		switch {
		case negative && b.Len() > 0:
			b.WriteString(" - ")
		case negative:
			b.WriteString("-")
		case b.Len() > 0:
			b.WriteString(" + ")
		}
		if !simple(text) && (f.num != 1 || f.den > 1 || negative) {
			text = "(" + text + ")"
		}
		switch {
		case text == "":
			b.WriteString(f.String())
		case f.num == 1 && f.den <= 1:
			b.WriteString(text)
		default:
			b.WriteString(f.String() + "*" + text)
		}
	}
	for _, t := range p.terms {
		put(t.fraction, t.text)
	}
	if p.constant.num != 0 || len(p.terms) == 0 {
		put(p.constant, "")
	}
	return b.String()
}

func simple(text string) bool {
	return !strings.ContainsAny(text, " +-*/^()")
}

// parsed returns the formula as a term.
func (p *polynomial) parsed() (fit.Term, error) { return fit.ParseTerm(p.String()) }

// translation turns the binary's symbols into the kernel's parameters.
type translation struct {
	overlay *iperf.Overlay
	used    map[string]bool // keys of Values
}

// value returns the overlay's formula for a symbol.
func (t *translation) value(symbol string) (string, bool) {
	keys := []string{symbol}
	if at := strings.LastIndexByte(symbol, '@'); at >= 0 {
		keys = append(keys, symbol[:at+1])
	}
	for _, key := range keys {
		if v, ok := t.overlay.Values[key]; ok {
			t.used[key] = true
			return v, true
		}
	}
	return "", false
}

// of translates a formula of package access; unknown are the symbols missing from the
// overlay, with their coefficients.
func (t *translation) of(f access.Formula) (p *polynomial, unknown []access.Term) {
	p = &polynomial{}
	for _, k := range f.Terms() {
		if k.Symbol.Kind == access.Unit {
			p.constant = p.constant.plus(fraction{k.Num, k.Den})
			continue
		}
		text, ok := t.value(k.Symbol.String())
		if !ok {
			unknown = append(unknown, k)
			continue
		}
		p.add(text, fraction{k.Num, k.Den})
	}
	return p, unknown
}

// trips formats a trip count plus more iterations.
func (t *translation) trips(c *access.TripCount, more int64) (text string, unknown []string) {
	den := denominator(c)
	terms := slices.SortedStableFunc(slices.Values(c.Of.Terms()), func(a, b access.Term) int {
		return strings.Compare(a.Symbol.String(), b.Symbol.String())
	})
	p := &polynomial{} // over the denominator
	for _, k := range terms {
		by := fraction{k.Num * (den / (k.Den * c.By)), 1}
		if den == 1 {
			by = fraction{k.Num / c.By, 1}
		}
		if k.Symbol.Kind == access.Unit {
			p.constant = p.constant.plus(by)
			continue
		}
		v, ok := t.value(k.Symbol.String())
		if !ok {
			unknown = append(unknown, k.Symbol.String())
			continue
		}
		p.add(v, by)
	}
	more += c.Plus
	if den == 1 {
		p.constant = p.constant.plus(fraction{more, 1})
		return p.String(), unknown
	}
	round := "floor"
	if c.Up {
		round = "ceil"
	}
	text = fmt.Sprintf("%s((%s)/%d)", round, p, den)
	if more != 0 {
		text = fmt.Sprintf("%s + %d", text, more)
	}
	return text, unknown
}

// denominator returns the least common denominator of the terms of a trip count, 1 if
// By divides them all.
func denominator(c *access.TripCount) int64 {
	den := int64(1)
	whole := true
	for _, k := range c.Of.Terms() {
		a, b := den, k.Den
		for b != 0 {
			a, b = b, a%b
		}
		den *= k.Den / a
		whole = whole && k.Den == 1 && k.Num%c.By == 0
	}
	if whole {
		return 1
	}
	return den * c.By
}
