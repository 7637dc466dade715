package progress

import "testing"

func TestFunc(t *testing.T) {
	var none Func
	none.Report(Report{Task: "ignored"})
	none.Finish(3)

	var got []Report
	f := Func(func(r Report) { got = append(got, r) })
	f.Report(Report{Task: "n=20", Total: 2})
	f.Finish(2)
	if len(got) != 2 || got[0].Task != "n=20" || got[0].Finished() || !got[1].Finished() {
		t.Errorf("%+v", got)
	}
	if (Report{}).Finished() {
		t.Error("work of unknown length is finished before it began")
	}
}
