package parquet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"presage/perf/study/record"
)

// The keys of the metadata: those of a record.Recording.
const (
	FileKey    = "presage.file"
	OriginKey  = "presage.origin"
	CommandKey = "presage.command"
	DateKey    = "presage.date"
	SHA256Key  = "presage.csv_sha256"
)

// kind is the type of a column.
type kind int

const (
	whole   kind = iota // int64
	real                // float64; an empty cell is null
	logical             // bool
	text                // string
)

// types are the Go types of the kinds, as parquet-go maps them.
var types = map[kind]reflect.Type{
	whole: reflect.TypeFor[int64](), real: reflect.TypeFor[*float64](), logical: reflect.TypeFor[bool](), text: reflect.TypeFor[string](),
}

// Write writes a recorded table. A column of integers as people write them becomes
// INT64, one of numbers DOUBLE, one of true and false BOOLEAN, and any other a string.
// Numbers are those of the CSV text to the last bit; an empty cell among numbers is null,
// and NaN stays NaN.
func Write(w io.Writer, t *record.Text) error {
	rows, err := csv.NewReader(bytes.NewReader(t.CSV)).ReadAll()
	if err != nil {
		return fmt.Errorf("parquet: %s: %w", t.File, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("parquet: %s: no header", t.File)
	}
	names, rows := rows[0], rows[1:]
	kinds := make([]kind, len(names))
	fields := make([]reflect.StructField, len(names))
	for i, name := range names {
		if err := checkName(name, names[:i]); err != nil {
			return fmt.Errorf("parquet: %s: %w", t.File, err)
		}
		kinds[i] = kindOf(rows, i)
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: types[kinds[i]], Tag: reflect.StructTag(`parquet:"` + name + tags[kinds[i]] + `"`)}
	}
	row := reflect.New(reflect.StructOf(fields))
	out := parquet.NewWriter(w, parquet.SchemaOf(row.Interface()), parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(pageBuffer(t.CSV)),
		parquet.KeyValueMetadata(FileKey, t.File), parquet.KeyValueMetadata(OriginKey, t.Origin), parquet.KeyValueMetadata(CommandKey, t.Command),
		parquet.KeyValueMetadata(DateKey, t.Date), parquet.KeyValueMetadata(SHA256Key, t.SHA256))
	for _, cells := range rows {
		for i, cell := range cells {
			if err := set(row.Elem().Field(i), kinds[i], cell); err != nil {
				return fmt.Errorf("parquet: %s: column %s: %w", t.File, names[i], err)
			}
		}
		if err := out.Write(row.Interface()); err != nil {
			return fmt.Errorf("parquet: %s: %w", t.File, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("parquet: %s: %w", t.File, err)
	}
	return nil
}

// pageBuffer returns the size of a column's buffer, in bytes: parquet-go's own, unless the
// columns of a table are smaller. A value takes up to 8 bytes, a string its length and 4.
func pageBuffer(csv []byte) int { return min(parquet.DefaultPageBufferSize, 8*len(csv)+64) }

// tags are what follows a column's name in the tag of its field.
var tags = map[kind]string{real: ",optional"}

// checkName returns an error for a column that a tag of a field cannot name.
func checkName(name string, before []string) error {
	if name == "" || name == "-" || strings.ContainsAny(name, ",\"`\\\n") {
		return fmt.Errorf("a column of the name %q: want letters, digits and underscores", name)
	}
	for _, other := range before {
		if other == name {
			return fmt.Errorf("two columns of the name %q", name)
		}
	}
	return nil
}

// kindOf returns the type of a column.
func kindOf(rows [][]string, column int) kind {
	fits := map[kind]bool{whole: true, real: true, logical: true}
	numbers := false
	for _, row := range rows {
		cell := row[column]
		n, err := strconv.ParseInt(cell, 10, 64)
		fits[whole] = fits[whole] && err == nil && strconv.FormatInt(n, 10) == cell
		_, err = strconv.ParseFloat(cell, 64)
		fits[real] = fits[real] && (cell == "" || err == nil && !strings.ContainsAny(cell, "xX_"))
		numbers = numbers || err == nil
		fits[logical] = fits[logical] && (cell == "true" || cell == "false")
	}
	switch {
	case len(rows) == 0:
		return text
	case fits[whole]:
		return whole
	case fits[real] && numbers:
		return real
	case fits[logical]:
		return logical
	}
	return text
}

// set sets a field to what a cell says.
func set(field reflect.Value, k kind, cell string) error {
	switch k {
	case whole:
		n, err := strconv.ParseInt(cell, 10, 64)
		field.SetInt(n)
		return err
	case real:
		if cell == "" {
			field.SetZero()
			return nil
		}
		v, err := strconv.ParseFloat(cell, 64)
		field.Set(reflect.ValueOf(&v))
		return err
	case logical:
		field.SetBool(cell == "true")
		return nil
	case text:
		field.SetString(cell)
		return nil
	}
	return errors.New("a column of no type")
}
