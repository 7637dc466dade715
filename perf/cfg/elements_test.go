package cfg

import "testing"

const elementsSource = `
__attribute__((noinline)) void fill(long *to, long value, long n)
{
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(value) : "memory");
	*to = n;
}

void _start(void)
{
	static long data[8];
	fill(data, 1, 7);
	__builtin_trap();
}
`

// TestElements: an instruction that repeats itself becomes a loop of a guard and an element,
// between what comes before and after it.
func TestElements(t *testing.T) {
	p := analyze(t, build(t, "gcc", "elements.c", elementsSource, "-O2", "-nostdlib"))
	before, after := named(t, p, "fill"), named(t, p.Elements(), "fill")
	if len(before.Loops) > 0 || len(after.Loops) != 1 {
		t.Fatalf("%d loops, then %d; want none and 1", len(before.Loops), len(after.Loops))
	}
	element := after.Loops[0].Header
	guard := element - 1
	if len(after.Loops[0].Blocks) != 1 || after.Blocks[element].Part != Element || after.Blocks[guard].Part != Guard {
		t.Fatalf("the loop has blocks %d: parts %d and %d", after.Loops[0].Blocks, after.Blocks[guard].Part, after.Blocks[element].Part)
	}
	for _, from := range []int{guard, element} { // both lead past the elements
		var to []int
		for _, e := range after.Blocks[from].Succs {
			to = append(to, after.Edges[e].To)
		}
		if len(to) != 2 || to[0] != element || to[1] != element+1 {
			t.Errorf("block %d leads to %d, want %d and %d", from, to, element, element+1)
		}
	}
	if n := len(after.Blocks) - len(before.Blocks); n < 2 || n > 3 {
		t.Errorf("%d more blocks; want a guard, an element and perhaps what follows", n)
	}
}
