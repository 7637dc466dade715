package main

import (
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// A kind of line: the pattern with its names, the template that makes the line
// from fields, and the fields of a random line.
type kind struct {
	pattern, form string
	fields        func(r *random) map[string]string
}

const (
	stamp     = `^(?P<date>\d{4}-\d{2}-\d{2})T(?P<time>\d{2}:\d{2}:\d{2}(?:\.\d+)?)Z? (?P<host>[a-z]+\d*) `
	stampForm = `{{.date}}T{{.time}}{{if dotted .time}}Z{{end}} {{.host}} `
)

var kinds = []kind{
	{
		stamp + `(?i:get|put|post) (?P<path>(?:/\w+)+)(?:\?(?P<query>\S*))? (?P<status>[1-5]\d\d) (?P<micros>\d+)us$`,
		stampForm + `{{with .query}}GET {{$.path}}?{{.}}{{else}}put {{$.path}}{{end}} {{.status}} {{printf "%sus" .micros}}`,
		(*random).request,
	},
	{
		stamp + `(?P<level>warning|error|fatal): (?P<message>.*?) at (?P<file>[\w/]+\.(?:go|c|f90)):(?P<row>\d+)(?: \[(?P<code>E[0-9A-F]{4})\])?$`,
		stampForm + `{{.level}}: {{.message}} at {{.file}}:{{.row}}{{if and .code (ne .code "none")}} [{{.code}}]{{end}}`,
		(*random).fault,
	},
	{
		stamp + `login (?P<user>[\p{L}.]+)@(?P<domain>(?:[a-z]+\.)+[a-z]{2,3}) from (?P<address>(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{1,4}:){3}[0-9a-f]{1,4})(?P<denied> denied)?$`,
		stampForm + `login {{.user}}@{{.domain}} from {{.address | printf "%s"}}{{.denied}}`,
		(*random).login,
	},
	{
		stamp + `stats(?P<pairs>(?: [a-z]+=(?:-?\d+|"[^"]*"))+)$`,
		stampForm + `stats{{range pairs .pairs}} {{index . 0}}={{index . 1}}{{end}}`,
		(*random).stats,
	},
}

// pair is a name and a value of a line of statistics.
var pair = regexp.MustCompile(`([a-z]+)=(-?\d+|"[^"]*")`)

// lines has what all lines are matched with.
type lines struct {
	patterns []*regexp.Regexp
	forms    []*template.Template
}

func newLines() *lines {
	l := &lines{}
	functions := template.FuncMap{
		"dotted": func(s string) bool { return strings.Contains(s, ".") },
		"pairs": func(s string) (list [][]string) {
			for _, p := range pair.FindAllStringSubmatch(s, -1) {
				list = append(list, p[1:])
			}
			return list
		},
	}
	for _, k := range kinds {
		l.patterns = append(l.patterns, regexp.MustCompile(k.pattern))
		l.forms = append(l.forms, template.Must(template.New("").Funcs(functions).Parse(k.form)))
	}
	return l
}

// next makes up a line, and takes it apart.
func (l *lines) next(r *random) (text string, parts int, err error) {
	k := r.below(len(kinds))
	fields := kinds[k].fields(r)
	fields["date"] = fmt.Sprintf("%d-%02d-%02d", 1990+r.below(50), 1+r.below(12), 1+r.below(28))
	fields["time"] = fmt.Sprintf("%02d:%02d:%02d%s", r.below(24), r.below(60), r.below(60), r.one([]string{"", ".25", ".123456"}))
	fields["host"] = r.one(words) + r.one([]string{"", "7", "41"})
	line, err := l.render(k, fields)
	if err != nil {
		return "", 0, err
	}
	parts, err = l.check(k, line, fields)
	return line + "\n", parts, err
}

// check matches a line of kind k with all patterns and compares the submatches
// with its fields. It returns how many there are.
func (l *lines) check(k int, line string, fields map[string]string) (parts int, err error) {
	for i, pattern := range l.patterns {
		found := pattern.FindStringSubmatch(line)
		if (found != nil) != (i == k) {
			return 0, fmt.Errorf("pattern %d of a line of kind %d: match %t\n%s", i, k, found != nil, line)
		}
		if found == nil {
			continue
		}
		got := map[string]string{}
		for j, name := range pattern.SubexpNames()[1:] {
			if got[name] = found[j+1]; got[name] != fields[name] {
				return 0, fmt.Errorf("%s is %q, want %q\n%s", name, got[name], fields[name], line)
			}
		}
		if again, err := l.render(k, got); err != nil || again != line {
			return 0, fmt.Errorf("%w: the template makes\n%s\nof the submatches of\n%s", err, again, line)
		}
		parts = len(got)
	}
	return parts, own(line, fields)
}

func (l *lines) render(k int, fields map[string]string) (string, error) {
	var out strings.Builder
	err := l.forms[k].Execute(&out, fields)
	return out.String(), err
}

// own compiles a pattern for one line and marks fields with it, and compares with
// the line that replacing them one by one gives.
func own(line string, fields map[string]string) error {
	pattern, err := regexp.Compile(fmt.Sprintf(`(%s)T|(\b%s\b)|(?:%s)`,
		regexp.QuoteMeta(fields["date"]), regexp.QuoteMeta(fields["host"]), regexp.QuoteMeta(fields["time"])))
	if err != nil {
		return err
	}
	marked := pattern.ReplaceAllString(line, "<$1$2>")
	want := strings.Replace(line, fields["date"]+"T"+fields["time"], "<"+fields["date"]+"><>", 1)
	want = regexp.MustCompile(`\b`+fields["host"]+`\b`).ReplaceAllLiteralString(want, "<"+fields["host"]+">")
	if marked != want {
		return fmt.Errorf("marked, the line is\n%s\nwant\n%s", marked, want)
	}
	return nil
}

func (r *random) request() map[string]string {
	f := map[string]string{"path": "", "query": "", "status": fmt.Sprint(100 + r.below(500)), "micros": fmt.Sprint(r.below(1e6))}
	for range 1 + r.below(4) {
		f["path"] += "/" + r.one(words)
	}
	if r.below(2) == 0 {
		f["query"] = fmt.Sprintf("%s=%d&%s=%s", r.one(words), r.below(1000), r.one(words), r.one(words))
	}
	return f
}

func (r *random) fault() map[string]string {
	f := map[string]string{
		"level": r.one([]string{"warning", "error", "fatal"}), "message": r.sentence(), "row": fmt.Sprint(r.below(5000)), "code": "",
		"file": r.one(words) + "/" + r.one(words) + r.one([]string{".go", ".c", ".f90"}),
	}
	if r.below(2) == 0 {
		f["code"] = fmt.Sprintf("E%04X", r.below(1<<16))
	}
	return f
}

func (r *random) login() map[string]string {
	f := map[string]string{
		"user": r.one(words) + r.one([]string{"", ".ö", ".Ωmega"}), "denied": r.one([]string{"", " denied"}),
		"domain": r.one(words) + "." + r.one(words) + "." + r.one([]string{"org", "de", "fr"}),
	}
	if r.below(2) == 0 {
		f["address"] = fmt.Sprintf("%d.%d.%d.%d", r.below(256), r.below(256), r.below(256), r.below(256))
	} else {
		f["address"] = fmt.Sprintf("%x:%x:%x:%x", r.below(1<<16), r.below(1<<16), r.below(1<<16), r.below(1<<16))
	}
	return f
}

func (r *random) stats() map[string]string {
	var pairs strings.Builder
	for range 1 + r.below(6) {
		if r.below(2) == 0 {
			fmt.Fprintf(&pairs, " %s=%d", r.one(words), r.below(20000)-10000)
		} else {
			fmt.Fprintf(&pairs, " %s=%q", r.one(words), r.sentence())
		}
	}
	return map[string]string{"pairs": pairs.String()}
}
