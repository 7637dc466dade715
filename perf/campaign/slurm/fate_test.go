package slurm

import "testing"

func TestParseFate(t *testing.T) {
	const text = `7_0|COMPLETED|n1|0:0
7_1|NODE_FAIL|n2|0:0
7_1|COMPLETED|n1|0:0
7_[3-4,6%2]|CANCELLED by 0|None assigned|0:0
17_2|FAILED|n1|1:0
7_2||n1|
`
	for task, want := range map[int]string{0: "COMPLETED", 1: "COMPLETED", 3: "CANCELLED", 4: "CANCELLED", 6: "CANCELLED"} {
		if f, ok := parseFate(text, place{"7", task}); !ok || f.state != want {
			t.Errorf("task %d: %v %v, want %s", task, f, ok, want)
		}
	}
	for _, task := range []int{2, 5, 7} {
		if f, ok := parseFate(text, place{"7", task}); ok {
			t.Errorf("task %d: %v", task, f)
		}
	}
	if f, ok := parseFate("7|CANCELLED by 0|None assigned|0:0\n", place{"7", 2}); !ok || f.state != "CANCELLED" {
		t.Errorf("all of an array: %v %v", f, ok)
	}
}
