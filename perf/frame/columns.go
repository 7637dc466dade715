// Package frame makes tidy tables, one row for each observation, as gota
// DataFrames. It also joins, sums, prints and writes them, because gota does
// these slowly, in random order, or with a loss of digits.
//
// Columns are snake_case with the unit last (block_bytes, time_sec); counts
// are bare plurals (accesses, misses); ratios run from 0 to 1. The prefixes
// pred_, sim_ and meas_ tell apart what a model predicted, what an exact
// simulation gave and what a real clock or counter showed.
package frame

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// Table is a gota DataFrame, for packages that hold rows and need its name only
// where they write a file.
type Table = dataframe.DataFrame

// Of turns rows, a slice of structs, into a DataFrame with a column for each
// exported field that has a `frame:"name"` tag, in the order of the fields.
// Fields are strings, integers, floats or bools. A field of type
// map[string]float64 tagged `frame:",each"` becomes a column for each key, by
// name; a row that lacks a key has NaN there. The columns of an embedded struct
// stand in its place: a row with further columns embeds the plain one.
//
// It panics if a field has another type, or if rows is not a slice of structs:
// mistakes of the caller.
func Of[T any](rows []T) dataframe.DataFrame { return of(reflect.ValueOf(rows)) }

// From returns a table as a DataFrame: a DataFrame as it is, a slice of structs
// as Of does. It returns an error if table is neither.
func From(table any) (dataframe.DataFrame, error) {
	if df, ok := table.(dataframe.DataFrame); ok {
		return df, need(df)
	}
	v := reflect.ValueOf(table)
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return dataframe.DataFrame{}, fmt.Errorf("frame: a %T is neither a DataFrame nor a slice of structs", table)
	}
	return of(v), nil
}

func of(v reflect.Value) dataframe.DataFrame {
	var columns []series.Series
	for _, f := range tagged(v.Type().Elem()) {
		if f.each {
			columns = append(columns, each(v, f)...)
			continue
		}
		columns = append(columns, column(v, f))
	}
	return dataframe.New(columns...)
}

func column(rows reflect.Value, f field) series.Series {
	switch kind := f.typ.Kind(); kind {
	case reflect.String:
		return series.New(gather(rows, f, reflect.Value.String), series.String, f.name)
	case reflect.Bool:
		return series.New(gather(rows, f, reflect.Value.Bool), series.Bool, f.name)
	case reflect.Float64:
		return series.New(gather(rows, f, reflect.Value.Float), series.Float, f.name)
	case reflect.Int, reflect.Int32, reflect.Int64:
		return series.New(gather(rows, f, func(v reflect.Value) int { return int(v.Int()) }), series.Int, f.name)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return series.New(gather(rows, f, func(v reflect.Value) int { return int(v.Uint()) }), series.Int, f.name)
	default:
		panic(fmt.Sprintf("frame: column %s has a %v", f.name, kind))
	}
}

func gather[V any](rows reflect.Value, f field, get func(reflect.Value) V) []V {
	values := make([]V, rows.Len())
	for i := range values {
		values[i] = get(rows.Index(i).FieldByIndex(f.index))
	}
	return values
}

// each expands a column of maps into a column for each key.
func each(rows reflect.Value, f field) []series.Series {
	maps := gather(rows, f, func(v reflect.Value) map[string]float64 {
		return v.Convert(reflect.TypeFor[map[string]float64]()).Interface().(map[string]float64)
	})
	var names []string
	for _, m := range maps {
		for name := range m {
			if i, found := slices.BinarySearch(names, name); !found {
				names = slices.Insert(names, i, name)
			}
		}
	}
	columns := make([]series.Series, len(names))
	for c, name := range names {
		values := make([]any, len(maps))
		for i, m := range maps {
			if v, ok := m[name]; ok {
				values[i] = v
			}
		}
		columns[c] = series.New(values, series.Float, name)
	}
	return columns
}

// Rows returns the values of df, row by row: string, int, float64 or bool.
func Rows(df dataframe.DataFrame) [][]any {
	rows := make([][]any, df.Nrow())
	for i := range rows {
		rows[i] = make([]any, df.Ncol())
	}
	for c, name := range df.Names() {
		col := df.Col(name)
		for i := range rows {
			rows[i][c] = col.Elem(i).Val()
		}
	}
	return rows
}

// Floats returns the named column as numbers. It returns an error if the column
// does not exist or holds text.
func Floats(df dataframe.DataFrame, name string) ([]float64, error) {
	if err := need(df, name); err != nil {
		return nil, err
	}
	col := df.Col(name)
	if col.Type() == series.String {
		return nil, fmt.Errorf("frame: column %q holds text, not numbers", name)
	}
	return col.Float(), nil
}

// Strings returns the named column as text. It returns an error if the column
// does not exist.
func Strings(df dataframe.DataFrame, name string) ([]string, error) {
	if err := need(df, name); err != nil {
		return nil, err
	}
	col := df.Col(name)
	out := make([]string, col.Len())
	for i := range out {
		out[i] = Text(col.Elem(i).Val())
	}
	return out, nil
}

// WithFloats returns df with a column of numbers added or replaced.
func WithFloats(df dataframe.DataFrame, name string, values []float64) dataframe.DataFrame {
	return df.Mutate(series.New(values, series.Float, name))
}

// need returns an error if df has failed earlier or lacks a column.
func need(df dataframe.DataFrame, names ...string) error {
	if df.Err != nil {
		return fmt.Errorf("frame: %w", df.Err)
	}
	for _, name := range names {
		if !slices.Contains(df.Names(), name) {
			return fmt.Errorf("frame: no column %q; there are %s", name, strings.Join(df.Names(), ", "))
		}
	}
	return nil
}
