package frame

import (
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// read parses a table.
func read(t *testing.T, text string) dataframe.DataFrame {
	t.Helper()
	df, err := ReadCSV(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return df
}

// written returns a table as CSV.
func written(t *testing.T, df dataframe.DataFrame) string {
	t.Helper()
	var b strings.Builder
	if err := WriteCSV(&b, df); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A stack of tables is the table whose text is theirs, one below the other.
func TestStack(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string
		want string
		kind series.Type // of the last column
	}{
		{"one", []string{"a,b\nx,1\n"}, "a,b\nx,1\n", series.Int},
		{"same columns", []string{"a,b\nx,1\n", "a,b\ny,2\nz,3\n"}, "a,b\nx,1\ny,2\nz,3\n", series.Int},
		{"other order", []string{"a,b\nx,1\n", "b,a\n2,y\n"}, "a,b\nx,1\ny,2\n", series.Int},
		{"fractions after integers", []string{"b\n1\n", "b\n0.5\n"}, "b\n1\n0.5\n", series.Float},
		{"integers after fractions", []string{"b\n0.1\n", "b\n3\n"}, "b\n0.1\n3\n", series.Float},
		{"large integers", []string{"b\n9007199254740993\n", "b\n1\n"}, "b\n9007199254740993\n1\n", series.Int},
		{"columns of one alone", []string{"a\nx\n", "a,b\ny,2.5\n"}, "a,b\nx,\ny,2.5\n", series.Float},
		{"missing numbers", []string{"a,b\nx,\ny,1\n", "a,b\nz,4\n"}, "a,b\nx,\ny,1\nz,4\n", series.Float},
		{"empty text beside numbers", []string{"a,b\nx,\n", "a,b\ny,4\n"}, "a,b\nx,\ny,4\n", series.Int},
		{"empty text beside text", []string{"a,b\nx,\n", "a,b\ny,t\n"}, "a,b\nx,\ny,t\n", series.String},
		{"no rows", []string{"a,b\nx,1\n", "a,b\n"}, "a,b\nx,1\n", series.Int},
	} {
		var in []dataframe.DataFrame
		for _, text := range c.in {
			in = append(in, read(t, text))
		}
		df, err := Stack(in...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := written(t, df); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
		if got := df.Types()[df.Ncol()-1]; got != c.kind {
			t.Errorf("%s: the last column holds %s, want %s", c.name, got, c.kind)
		}
		for i, text := range c.in {
			if got := written(t, in[i]); got != text {
				t.Errorf("%s: Stack changed its argument to\n%s", c.name, got)
			}
		}
	}
}

func TestStackErrors(t *testing.T) {
	text, numbers := read(t, "a\nx\n"), read(t, "a\n1\n")
	if _, err := Stack(text, numbers); err == nil || !strings.Contains(err.Error(), `column "a" holds string in one frame and int in another`) {
		t.Errorf("text above numbers: %v", err)
	}
	if _, err := Stack(text, text.Select([]string{"b"})); err == nil || !strings.Contains(err.Error(), "b") {
		t.Errorf("a frame that has failed: %v", err)
	}
}

func TestLabel(t *testing.T) {
	df := Label(read(t, "a\n1\n2\n"), "machine", "m")
	if got, want := written(t, df), "a,machine\n1,m\n2,m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	df = WithStrings(df, "machine", []string{"x", "1"})
	if got, want := written(t, df), "a,machine\n1,x\n2,1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := written(t, Label(read(t, "a\n"), "machine", "m")); got != "a,machine\n" {
		t.Errorf("without rows: %q", got)
	}
}
