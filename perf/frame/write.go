package frame

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/go-gota/gota/dataframe"
)

// Text returns a cell's value with all its digits; a missing one is "".
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		if math.IsNaN(v) {
			return ""
		}
		if v == math.Trunc(v) && math.Abs(v) < 1e15 { // a count, for readers that want integers
			return strconv.FormatFloat(v+0, 'f', -1, 64) // +0: no sign of a zero
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// short returns a cell's value for a person to read: six significant digits,
// without an exponent if the number is short enough.
func short(v any) string {
	f, ok := v.(float64)
	if !ok || math.IsNaN(f) {
		return Text(v)
	}
	if a := math.Abs(f); f == math.Trunc(f) && a < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	} else if a >= 1e5 && a < 1e15 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 5, 64)
}

// WriteCSV writes df with a header line and full precision. A missing number
// is an empty field. Lines within a field end in \n.
func WriteCSV(w io.Writer, df dataframe.DataFrame) error {
	if err := need(df); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	names := df.Names()
	for i := range names {
		names[i] = unixLines(names[i])
	}
	if err := out.Write(names); err != nil {
		return err
	}
	for _, row := range Rows(df) {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = unixLines(Text(v))
		}
		if len(cells) == 1 && cells[0] == "" { // a blank line would be no record
			out.Flush()
			if _, err := io.WriteString(w, "\"\"\n"); err != nil {
				return err
			}
			continue
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteJSON writes df as an array of objects, one for each row, with the
// columns in order. A missing or infinite number is null.
func WriteJSON(w io.Writer, df dataframe.DataFrame) error {
	if err := need(df); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteByte('[')
	names := df.Names()
	keys := make([][]byte, len(names))
	for c, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return fmt.Errorf("frame: column %q: %w", name, err)
		}
		keys[c] = key
	}
	for i, row := range Rows(df) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  {")
		for c, v := range row {
			if c > 0 {
				b.WriteString(", ")
			}
			if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
				v = nil
			}
			value, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("frame: row %d, column %s: %w", i, names[c], err)
			}
			b.Write(keys[c])
			b.WriteString(": ")
			b.Write(value)
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes df as an aligned table for people.
func WriteText(w io.Writer, df dataframe.DataFrame) error {
	if err := need(df); err != nil {
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells []string) {
		fmt.Fprintln(out, strings.Join(cells, "\t")+"\t")
	}
	line(df.Names())
	for _, row := range Rows(df) {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = short(v)
		}
		line(cells)
	}
	return out.Flush()
}

// String returns df as WriteText writes it, or the text of df's error.
func String(df dataframe.DataFrame) string {
	var b strings.Builder
	if err := WriteText(&b, df); err != nil {
		return err.Error()
	}
	return b.String()
}

// htmlCell writes a value for people: text stands at the left, and a whole number of
// five digits and more has separators.
func htmlCell(v any) string {
	if text, ok := v.(string); ok {
		return fmt.Sprintf(`<td style="text-align:left">%s</td>`, html.EscapeString(text))
	}
	return "<td>" + html.EscapeString(grouped(short(v))) + "</td>"
}

// grouped puts a comma between each three digits of a whole number.
func grouped(digits string) string {
	number, negative := strings.CutPrefix(digits, "-")
	if len(number) < 5 || strings.Trim(number, "0123456789") != "" {
		return digits
	}
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i, d := range number {
		if i > 0 && (len(number)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// HTML returns df as a table for a notebook, at most limit rows of it (0: all),
// with a last line that counts the rows left out.
func HTML(df dataframe.DataFrame, limit int) string {
	if err := need(df); err != nil {
		return "<pre>" + html.EscapeString(err.Error()) + "</pre>"
	}
	var b strings.Builder
	b.WriteString("<table><thead><tr>")
	for _, name := range df.Names() {
		fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(name))
	}
	b.WriteString("</tr></thead><tbody>")
	rows := Rows(df)
	shown := rows
	if limit > 0 && len(rows) > limit {
		shown = rows[:limit]
	}
	for _, row := range shown {
		b.WriteString("<tr>")
		for _, v := range row {
			b.WriteString(htmlCell(v))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	if len(shown) < len(rows) {
		fmt.Fprintf(&b, "<p>%d of %d rows</p>", len(shown), len(rows))
	}
	return b.String()
}
