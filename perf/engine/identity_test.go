package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestIdentityJSON(t *testing.T) {
	for want, id := range map[string]Identity{
		`1`:               {Name: "first", Version: 1, Numbered: true},
		`2`:               {Name: "first", Version: 2, Numbered: true},
		`"native@1"`:      {Name: "native", Version: 1},
		`"native-x86@12"`: {Name: "native-x86", Version: 12},
	} {
		text, err := json.Marshal(struct{ Engine Identity }{id})
		if err != nil || string(text) != `{"Engine":`+want+`}` {
			t.Errorf("%+v is written as %s (%v), want %s", id, text, err, want)
		}
		var back struct{ Engine Identity }
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if id.Numbered {
			id.Name = "" // not part of the number
		}
		if back.Engine != id {
			t.Errorf("%s is read as %+v, want %+v", text, back.Engine, id)
		}
	}
	for _, bad := range []Identity{{}, {Name: "a"}, {Version: 1}, {Name: "a@b", Version: 1}, {Name: "a", Version: -1}, {Numbered: true}} {
		if text, err := json.Marshal(bad); err == nil {
			t.Errorf("%+v is written as %s", bad, text)
		}
	}
	for _, bad := range []string{`0`, `-1`, `1.5`, `""`, `"a"`, `"@1"`, `"a@"`, `"a@x"`, `"a@0"`, `"a@1@2"`, `null`, `{}`, `true`} {
		var id Identity
		if err := json.Unmarshal([]byte(bad), &id); err == nil {
			t.Errorf("%s is read as %+v", bad, id)
		}
	}
}

func TestRequestEnd(t *testing.T) {
	for _, c := range []struct {
		until, most, at uint64
		limit           bool
	}{{0, 0, 0, false}, {5, 0, 5, false}, {0, 5, 5, true}, {5, 6, 5, false}, {6, 6, 6, true}, {7, 6, 6, true}} {
		r := Request{Until: c.until, MaxInstructions: c.most}
		if at, limit := r.End(); at != c.at || limit != c.limit {
			t.Errorf("until %d, at most %d: %d, %t", c.until, c.most, at, limit)
		}
	}
}

func TestCapabilitiesString(t *testing.T) {
	for want, c := range map[string]Capabilities{
		"none":                   0,
		"windows, sandbox":       CapWindows | CapSandbox,
		"memory limits, 0x40000": CapMemory | 1<<18,
	} {
		if got := c.String(); got != want {
			t.Errorf("%d is %q, want %q", uint(c), got, want)
		}
	}
}

func TestOutcomeErr(t *testing.T) {
	failed := Outcome{ExitCode: 3, Instructions: 7, Refused: []RefusedFile{{Path: "/data/x", Reason: "no granted folder holds it", Count: 2}}}
	want := "the program ended with exit status 3 after 7 instructions\n\t/data/x could not be opened: no granted folder holds it"
	if err := failed.Err(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	failed.ExitCode = 0
	if err := failed.Err(); err != nil {
		t.Error(err)
	}
	for count, want := range map[uint64]string{1: "made once", 5: "made 5 times"} {
		if text := (SyscallCount{Number: 220, Name: "fork", Count: count}).String(); !strings.Contains(text, "220 (fork), "+want) {
			t.Errorf("%d calls: %s", count, text)
		}
	}
}
