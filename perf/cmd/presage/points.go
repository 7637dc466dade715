package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"presage/perf"
	"presage/perf/subject"
)

// pointsFlag is a flag such as n=20:prog.20 or n=20,k=4:prog.20, repeated for
// each executable of a program whose sizes are fixed at compile time.
type pointsFlag struct {
	points []perf.Point
	paths  []string
	text   []string
}

var _ pflag.Value = (*pointsFlag)(nil)

func (p *pointsFlag) String() string { return strings.Join(p.text, " ") }

func (p *pointsFlag) Type() string { return "name=value:PROGRAM" }

// Set implements pflag.Value.
func (p *pointsFlag) Set(text string) error {
	params, path, ok := strings.Cut(text, ":")
	if !ok || path == "" {
		return fmt.Errorf("want name=value:PROGRAM or name=value,name=value:PROGRAM, such as n=20:prog.20")
	}
	point := make(perf.Point)
	for param := range strings.SplitSeq(params, ",") {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q: want name=value before the colon, such as n=20:prog.20", params)
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%q is not a number", value)
		}
		if _, twice := point[name]; twice {
			return fmt.Errorf("parameter %s is given twice", name)
		}
		point[name] = v
	}
	p.points, p.paths, p.text = append(p.points, point), append(p.paths, path), append(p.text, text)
	return nil
}

// with returns other points, and those of the flag that are not among them.
func (p *pointsFlag) with(others []perf.Point) []perf.Point {
	all := slices.Clone(others)
	for _, q := range p.points {
		if !slices.ContainsFunc(all, func(o perf.Point) bool { return o.String() == q.String() }) {
			all = append(all, q)
		}
	}
	return all
}

// open opens the executables, each path once even if it is repeated.
func (p *pointsFlag) open(ctx context.Context) ([]subject.BinaryPoint, error) {
	opened := make(map[string]*perf.Program)
	var out []subject.BinaryPoint
	for i, path := range p.paths {
		if opened[path] == nil {
			prog, err := openProgram(ctx, path)
			if err != nil {
				return nil, err
			}
			opened[path] = prog
		}
		out = append(out, subject.BinaryPoint{Point: p.points[i], Program: opened[path]})
	}
	return out, nil
}
