package parquet

import (
	"bytes"
	"encoding/csv"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"presage/perf/study/record"
)

func written(t *testing.T, name, text string) *parquet.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := record.WriteText(path, []byte(text), record.Source{Origin: "invented", Command: "echo"}); err != nil {
		t.Fatal(err)
	}
	table, err := record.ReadText(path)
	if err != nil {
		t.Fatal(err)
	}
	return readBack(t, table)
}

func readBack(t *testing.T, table *record.Text) *parquet.File {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, table); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// cells returns the rows of a file as values in the order of its columns.
func cells(t *testing.T, f *parquet.File) [][]parquet.Value {
	t.Helper()
	var out [][]parquet.Value
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		defer rows.Close()
		buf := make([]parquet.Row, 16)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				out = append(out, r.Clone())
			}
			if err != nil {
				break
			}
		}
	}
	return out
}

func TestTypes(t *testing.T) {
	f := written(t, "x.csv", "z,whole,real,missing,flag,text,code\nb,1,0.1,,true,NaN,007\na,-2,1e300,NaN,false,x,008\n")
	var names, kinds []string
	for _, field := range f.Schema().Fields() {
		names, kinds = append(names, field.Name()), append(kinds, field.Type().String())
	}
	if got := strings.Join(names, " "); got != "z whole real missing flag text code" {
		t.Errorf("columns %s", got)
	}
	if got := strings.Join(kinds, " "); got != "STRING INT(64,true) DOUBLE DOUBLE BOOLEAN STRING DOUBLE" {
		t.Errorf("types %s", got)
	}
	rows := cells(t, f)
	if len(rows) != 2 || rows[0][1].Int64() != 1 || rows[0][2].Double() != 0.1 || !rows[0][3].IsNull() || !rows[0][4].Boolean() || rows[0][5].String() != "NaN" {
		t.Errorf("%v", rows)
	}
	if !math.IsNaN(rows[1][3].Double()) || rows[1][2].Double() != 1e300 {
		t.Errorf("%v", rows[1])
	}
	if origin, ok := f.Lookup(OriginKey); !ok || origin != "invented" {
		t.Errorf("origin %q", origin)
	}
}

// TestRecordedTables writes tables that are recorded and holds every cell against the
// CSV text.
func TestRecordedTables(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "datasets", "validation")
	files, err := record.Files(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		table, err := record.ReadText(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(bytes.NewReader(table.CSV)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		f := readBack(t, table)
		got := cells(t, f)
		if len(got) != len(want)-1 {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want)-1)
		}
		for i, row := range got {
			for j, v := range row {
				if !same(v, want[i+1][j]) {
					t.Fatalf("%s: row %d, column %s: %v, want %q", name, i, want[0][j], v, want[i+1][j])
				}
			}
		}
	}
}

func same(v parquet.Value, cell string) bool {
	if v.IsNull() {
		return cell == ""
	}
	switch v.Kind() {
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10) == cell
	case parquet.Double:
		x, err := strconv.ParseFloat(cell, 64)
		return err == nil && math.Float64bits(x) == math.Float64bits(v.Double())
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean()) == cell
	default:
		return string(v.ByteArray()) == cell
	}
}

func TestRefuses(t *testing.T) {
	for _, text := range []string{"", "a,a\n1,2\n", "a,\n1,2\n", "\"a,b\"\n1\n", "a,b\n1\n"} {
		if err := Write(&bytes.Buffer{}, &record.Text{CSV: []byte(text)}); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte("a,b\n1,x\n"))
	f.Add([]byte("a,b\n0x1p2,\n,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b bytes.Buffer
		if Write(&b, &record.Text{CSV: data}) != nil {
			return
		}
		if _, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
			t.Fatal(err)
		}
	})
}
