package frame

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// Into turns df into rows, the reverse of Of: each exported field of T with a
// `frame:"name"` tag is filled from the column of that name, and a
// map[string]float64 tagged `frame:",each"` from the numeric columns that no
// other field names. Fields of an embedded struct are filled like T's own.
// Columns without a field are ignored.
//
// It returns an error if df lacks the column of a field, unless the tag says
// `frame:"name,optional"` (the field is then zero, or NaN if it is a float), or
// if a value does not fit its field: text or a missing value in a column of
// integers, a fraction, a sign that the field cannot hold. The error names the
// row, counted from 1, and the column. It panics if T is not a struct or a
// tagged field has a type that Of does not take, which is the caller's mistake.
func Into[T any](df dataframe.DataFrame) ([]T, error) {
	if err := need(df); err != nil {
		return nil, err
	}
	rows := make([]T, df.Nrow())
	v := reflect.ValueOf(rows)
	fields := tagged(reflect.TypeFor[T]())
	var named []string
	for _, f := range fields {
		if f.each {
			continue
		}
		named = append(named, f.name)
		if err := fill(v, f, df); err != nil {
			return nil, err
		}
	}
	for _, f := range fields {
		if f.each {
			fillEach(v, f, df, named)
		}
	}
	return rows, nil
}

// A field is a tagged field of a struct.
type field struct {
	index    []int  // as reflect.Value.FieldByIndex takes it
	name     string // of the column
	typ      reflect.Type
	optional bool
	each     bool
}

// tagged returns the fields of t that have a frame tag, in their order, those
// of an embedded struct in its place.
func tagged(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("frame")
		switch {
		case ok:
			name, option, _ := strings.Cut(tag, ",")
			fields = append(fields, field{[]int{i}, name, f.Type, option == "optional", option == "each"})
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			for _, inner := range tagged(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
		}
	}
	return fields
}

func fill(rows reflect.Value, f field, df dataframe.DataFrame) error {
	if f.optional && !slices.Contains(df.Names(), f.name) {
		if f.typ.Kind() == reflect.Float64 {
			for i := range rows.Len() {
				rows.Index(i).FieldByIndex(f.index).SetFloat(math.NaN())
			}
		}
		return nil
	}
	if err := need(df, f.name); err != nil {
		return err
	}
	col := df.Col(f.name)
	for i := range rows.Len() {
		if err := set(rows.Index(i).FieldByIndex(f.index), f, col.Elem(i)); err != nil {
			return fmt.Errorf("frame: row %d, column %q: %w", i+1, f.name, err)
		}
	}
	return nil
}

func set(to reflect.Value, f field, from series.Element) error {
	switch f.typ.Kind() {
	case reflect.String:
		to.SetString(Text(from.Val()))
	case reflect.Float64:
		if from.Type() == series.String && from.String() == "" {
			to.SetFloat(math.NaN()) // ReadCSV takes a column of missing numbers for text
			return nil
		}
		if from.Type() == series.String {
			return fmt.Errorf("%q is text, not a number", from.String())
		}
		to.SetFloat(from.Float())
	case reflect.Bool:
		v, err := boolean(from)
		to.SetBool(v)
		return err
	case reflect.Int, reflect.Int32, reflect.Int64:
		v, err := whole(from)
		if err == nil && to.OverflowInt(v) {
			err = fmt.Errorf("%d is out of range for %v", v, to.Type())
		}
		if err == nil {
			to.SetInt(v)
		}
		return err
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v, err := whole(from)
		if err == nil && (v < 0 || to.OverflowUint(uint64(v))) {
			err = fmt.Errorf("%d is out of range for %v", v, to.Type())
		}
		if err == nil {
			to.SetUint(uint64(v))
		}
		return err
	default:
		panic(fmt.Sprintf("frame: column %s goes into a %v", f.name, to.Type()))
	}
	return nil
}

// whole returns an element as an integer. A float is one if it has no fraction
// and its neighbours are still distinct: below 2^53.
func whole(e series.Element) (int64, error) {
	switch {
	case e.IsNA():
		return 0, errors.New("no value; want an integer")
	case e.Type() == series.Int:
		v, err := e.Int()
		return int64(v), err
	case e.Type() == series.Float:
		v := e.Float()
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, fmt.Errorf("%g is not an integer of at most 2^53", v)
		}
		return int64(v), nil
	}
	v, err := strconv.ParseInt(e.String(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an integer", e.String())
	}
	return v, nil
}

// boolean returns an element as a bool: from a column of bools, or of the texts
// true and false, which a CSV file holds.
func boolean(e series.Element) (bool, error) {
	switch text := e.String(); {
	case e.Type() == series.Bool && !e.IsNA():
		return e.Bool()
	case text == "true":
		return true, nil
	case text == "false":
		return false, nil
	default:
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
}

// fillEach puts the numeric columns not in named into a map for each row,
// leaving out missing values.
func fillEach(rows reflect.Value, f field, df dataframe.DataFrame, named []string) {
	maps := make([]map[string]float64, rows.Len())
	for i := range maps {
		maps[i] = make(map[string]float64)
	}
	for _, name := range df.Names() {
		col := df.Col(name)
		if slices.Contains(named, name) || col.Type() != series.Float && col.Type() != series.Int {
			continue
		}
		for i, v := range col.Float() {
			if !math.IsNaN(v) {
				maps[i][name] = v
			}
		}
	}
	for i, m := range maps {
		to := rows.Index(i).FieldByIndex(f.index)
		to.Set(reflect.ValueOf(m).Convert(to.Type()))
	}
}
