package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	relationFirst = regexp.MustCompile(`^(=|>=|<=)(?:\s+|$)`)
	ofHeadline    = regexp.MustCompile(`^(value|median|p90|worst|rows) of "([^"]+)"(?:\s*/\s*"([^"]+)")?$`)
	oneCondition  = regexp.MustCompile(`^(\w+)(>=|<=|!=|=|>|<)((?:"[^"]*"|[^\s|"]+)(?:\|(?:"[^"]*"|[^\s|"]+))*)\s*`)
	atPlace       = regexp.MustCompile(`\s@([\w-]+)$`)
	columnName    = regexp.MustCompile(`^(\w+)(?:\s+|$)`)
)

// parseBinding reads the text of a comment.
func parseBinding(text string) (binding, error) {
	text = strings.TrimSpace(text)
	m := relationFirst.FindString(text)
	if m == "" {
		return binding{}, errors.New(`want "= ", ">= " or "<= " first`)
	}
	b := binding{relation: strings.TrimSpace(m)}
	text = text[len(m):]
	if m := atPlace.FindStringSubmatch(text); m != nil {
		b.place = m[1]
		text = strings.TrimSuffix(text, m[0])
	}
	if m := ofHeadline.FindStringSubmatch(text); m != nil {
		b.stat, b.metric, b.beside = m[1], m[2], m[3]
		if b.place != "" {
			return b, errors.New("a headline is named by its words alone, without a place")
		}
		return b, nil
	}
	var err error
	if text, err = b.readColumn(text); err != nil {
		return binding{}, err
	}
	for text != "" {
		var c condition
		if c, text, err = readCondition(text); err != nil {
			return binding{}, err
		}
		b.where = append(b.where, c)
	}
	return b, nil
}

// readColumn reads the name of a column and what stands before it, each word of that at
// most once: a sign, "1+", "abs" and a statistic. It returns the text after it. A word
// that comes a second time is the column, if a column may have such a name.
func (b *binding) readColumn(text string) (string, error) {
	for {
		text = b.readSigns(text)
		m := columnName.FindStringSubmatch(text)
		if m == nil {
			return "", fmt.Errorf("%q: want the name of a column", text)
		}
		text = text[len(m[0]):]
		switch {
		case m[1] == "abs" && !b.abs:
			b.abs = true
		case slices.Contains(statistics, m[1]) && b.stat == "":
			b.stat = m[1]
		default:
			b.column = m[1]
			return text, nil
		}
	}
}

// readSigns reads "-" and "1+", each at most once in a binding, and returns the text after
// them.
func (b *binding) readSigns(text string) string {
	for {
		switch {
		case strings.HasPrefix(text, "-") && !b.negate:
			text, b.negate = text[1:], true
		case strings.HasPrefix(text, "1+") && !b.plusOne:
			text, b.plusOne = text[2:], true
		default:
			return text
		}
	}
}

// readCondition reads a condition and returns it with the text after it.
func readCondition(text string) (c condition, rest string, err error) {
	m := oneCondition.FindStringSubmatch(text)
	if m == nil {
		return c, "", fmt.Errorf("%q: want a condition such as n=60, level=L1|L2 or level=\"L1 TLB\"", text)
	}
	c = condition{column: m[1], relation: m[2], values: strings.Split(m[3], "|")}
	for i := range c.values {
		c.values[i] = strings.Trim(c.values[i], `"`)
	}
	if len(c.values) > 1 && c.relation != "=" && c.relation != "!=" {
		return c, "", fmt.Errorf("%s%s%s: alternatives need = or !=", m[1], m[2], m[3])
	}
	return c, text[len(m[0]):], nil
}
