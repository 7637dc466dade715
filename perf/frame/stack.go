package frame

import (
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// Stack returns the rows of all frames, one frame below the other, with their
// columns in the order of first appearance; a column that a frame lacks is missing
// in its rows. Integers below or above fractions become fractions. A column that
// is text in one frame and holds numbers in another is an error, unless the text
// is empty throughout, as ReadCSV leaves a column without values.
func Stack(frames ...dataframe.DataFrame) (dataframe.DataFrame, error) {
	var names []string
	rows := 0
	for _, df := range frames {
		if err := need(df); err != nil {
			return dataframe.DataFrame{}, err
		}
		for _, name := range df.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		rows += df.Nrow()
	}
	columns := make([]series.Series, len(names))
	for c, name := range names {
		kind, err := stackedType(frames, name)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		values := make([]any, 0, rows)
		for _, df := range frames {
			values = append(values, stackedValues(df, name, kind)...)
		}
		columns[c] = series.New(values, kind, name)
	}
	return dataframe.New(columns...), nil
}

// stackedType returns the type that holds the values of a column in all frames.
func stackedType(frames []dataframe.DataFrame, name string) (kind series.Type, err error) {
	for _, df := range frames {
		if !slices.Contains(df.Names(), name) || blank(df.Col(name)) {
			continue
		}
		own := df.Col(name).Type()
		pair := []series.Type{kind, own}
		switch {
		case kind == "" || kind == own:
			kind = own
		case slices.Contains(pair, series.Int) && slices.Contains(pair, series.Float):
			kind = series.Float
		default:
			return "", fmt.Errorf("frame: column %q holds %s in one frame and %s in another", name, kind, own)
		}
	}
	if kind == "" {
		kind = series.String
	}
	return kind, nil
}

// blank reports whether a column is text and empty throughout.
func blank(col series.Series) bool {
	if col.Type() != series.String {
		return false
	}
	for i := range col.Len() {
		if Text(col.Elem(i).Val()) != "" {
			return false
		}
	}
	return true
}

// stackedValues returns a frame's values of a column of the given type, nil where
// they are missing.
func stackedValues(df dataframe.DataFrame, name string, kind series.Type) []any {
	values := make([]any, df.Nrow())
	if !slices.Contains(df.Names(), name) {
		return values
	}
	col := df.Col(name)
	if col.Type() == series.String && kind != series.String {
		return values // blank
	}
	for i := range values {
		values[i] = col.Elem(i).Val()
	}
	return values
}

// WithStrings returns df with a column of text added, or replaced if one of that
// name is there.
func WithStrings(df dataframe.DataFrame, name string, values []string) dataframe.DataFrame {
	return df.Mutate(series.New(values, series.String, name))
}

// Label returns df with a column that holds the same text in every row.
func Label(df dataframe.DataFrame, name, text string) dataframe.DataFrame {
	return WithStrings(df, name, slices.Repeat([]string{text}, df.Nrow()))
}
