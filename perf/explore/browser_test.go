package explore

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"presage/perf/internal/oracle"
)

// browse opens a page in a browser without a window, and fails the test if the page
// has an error of its own.
func browse(t *testing.T, address string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(oracle.Need(t, "chromium")), chromedp.NoSandbox, chromedp.WindowSize(1400, 1200), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page failed: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			// htmx reports requests that later ones took the place of.
			if text := string(e.Args[0].Value); e.Type == runtime.APITypeError && text != `"htmx:sendAbort"` && text != `"htmx:afterRequest"` {
				t.Errorf("the page complains: %s", text)
			}
		}
	})
	if err := chromedp.Run(ctx, chromedp.Navigate(address), chromedp.WaitVisible("#figure-curve svg")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// run runs actions in the page.
func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var page string
		_ = chromedp.Run(ctx, chromedp.Evaluate(`location.href + "\n" + document.body.innerText.slice(0, 1500)`, &page))
		t.Fatalf("%v, in %s", err, page)
	}
}

// text returns the text of an element.
func text(t *testing.T, ctx context.Context, selector string) (s string) {
	t.Helper()
	run(t, ctx, chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q).textContent", selector), &s))
	return s
}

// until waits for a condition in the page.
func until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(time.Minute))
}

// settled waits until what the server sent has taken its place in the page.
func settled() chromedp.Action {
	return until(`document.querySelector(".htmx-added, .htmx-settling, .htmx-swapping, .htmx-request") === null`)
}

// choose takes an entry of a menu, as soon as the menu has taken its place in the page.
func choose(menu, value string) chromedp.Action {
	return chromedp.Tasks{
		settled(),
		chromedp.SetValue(menu, value, chromedp.ByQuery), // tells of the change, too
	}
}

// TestBrowser works the page with the keyboard alone.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("what it drives is slow under the race detector; other tests serve pages at once, too")
	}
	s := newSession(t)
	ln, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	token := NewToken()
	ended := make(chan error, 1)
	go func() {
		_, err := Serve(t.Context(), ln, s, ServeOptions{Token: token, CanEnd: true})
		ended <- err
	}()
	st := s.Initial()
	st.At = 20
	ctx := browse(t, s.Address(ln, token, st))

	// A slider, moved by an arrow key, moves the cut, the figures and the address, and
	// keeps the focus.
	before := text(t, ctx, "#summary")
	var value, address, focused string
	run(t, ctx,
		chromedp.Focus("#capacity-step", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight),
		until(`document.querySelector("#summary").textContent.includes("48 KiB") && location.href.includes("capacity=49152")`),
		chromedp.AttributeValue("#capacity-step", "aria-valuetext", &value, nil, chromedp.ByQuery),
		chromedp.Location(&address),
		chromedp.Evaluate("document.activeElement.id", &focused),
	)
	if value != "48 KiB" || text(t, ctx, "#capacity-step-text") != "48 KiB" || focused != "capacity-step" {
		t.Errorf("the slider says %s, the focus is on %q", value, focused)
	}
	to, err := url.Parse(address)
	if err != nil || to.Query().Get("capacity") != "49152" {
		t.Errorf("the address is %s", address)
	}
	if after := text(t, ctx, "#summary"); after == before || !strings.Contains(before, "32 KiB") {
		t.Errorf("from %s to %s", before, after)
	}

	// A basis that is wrong is said; what was there stays; a right one takes it back.
	run(t, ctx,
		chromedp.SetValue("#basis", "n^^2", chromedp.ByQuery), chromedp.Focus("#basis", chromedp.ByQuery), chromedp.KeyEvent(" "+kb.Enter),
		until(`document.querySelector("#alert").textContent.includes("bad basis")`),
	)
	if !strings.Contains(text(t, ctx, "#summary"), "48 KiB") {
		t.Error("an error took the figures away")
	}
	run(t, ctx,
		chromedp.SetValue("#basis", "1, n^3", chromedp.ByQuery), chromedp.Focus("#basis", chromedp.ByQuery), chromedp.KeyEvent(" "+kb.Enter),
		until(`document.querySelector("#alert").textContent === "" && new URL(location).searchParams.get("basis") === "1, n^3"`),
	)

	// A tick, by the space bar: the size is held out, and drawn so.
	run(t, ctx, chromedp.Focus("#train-4", chromedp.ByQuery), chromedp.KeyEvent(" "),
		until(`document.querySelector("#errors-title + div tr.held th")?.textContent === "n=12"`),
		chromedp.Evaluate("document.activeElement.id", &focused))
	if focused != "train-4" {
		t.Errorf("the focus went to %q", focused)
	}

	// Menus: another kind of scope has other scopes, another level its own geometry.
	run(t, ctx, choose("#by", "loop"),
		until(`document.querySelector("#scope").options.length > 5`),
		choose("#level", "TLB"),
		until(`document.querySelector("#capacity-step-text").textContent === "2 MiB"`))

	// A part is computed when it is opened.
	run(t, ctx, settled(), chromedp.Focus("#part-tree summary", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter),
		until(`document.querySelector("#part-tree tbody tr") !== null`))

	named(t, ctx)

	// The picture of the surface is of this state.
	var picture string
	run(t, ctx, chromedp.Evaluate(`document.querySelector("#figure-surface img").src`, &picture))
	if u, err := url.Parse(picture); err != nil || u.Query().Get("by") != "loop" || u.Query().Get("level") != "TLB" {
		t.Errorf("the surface is %s", picture)
	}

	// The state is in the address: the same page comes back from it.
	summary := text(t, ctx, "#summary")
	run(t, ctx, chromedp.Location(&address), chromedp.Reload(), chromedp.WaitVisible("#figure-curve svg"))
	if again := text(t, ctx, "#summary"); again != summary {
		t.Errorf("%s: %s comes back as %s", address, summary, again)
	}

	run(t, ctx, chromedp.Evaluate(`document.querySelector("#done").click()`, nil))
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the button does not end it")
	}
}

// named checks that everything that takes the focus, and each figure, has a name for
// readers of screens.
func named(t *testing.T, ctx context.Context) {
	t.Helper()
	// Read by hand: the library refuses names of properties that are newer than it.
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored bool  `json:"ignored"`
			Role    value `json:"role"`
			Name    value `json:"name"`
			Node    int   `json:"backendDOMNodeId"`
		} `json:"nodes"`
	}
	run(t, ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, accessibility.CommandGetFullAXTree, accessibility.GetFullAXTree(), &tree)
	}))
	roles := make(map[string]int)
	for _, n := range tree.Nodes {
		role, _ := n.Role.Value.(string)
		switch role {
		case "textbox", "combobox", "checkbox", "slider", "spinbutton", "button", "link", "image", "form", "table", "img":
			roles[role]++
			if n.Ignored {
				continue
			}
			if name, _ := n.Name.Value.(string); name == "" {
				t.Errorf("a %s has no name: node %d", role, n.Node)
			}
		}
	}
	for role, least := range map[string]int{"textbox": 1, "combobox": 7, "checkbox": 5, "slider": 3, "link": 16, "button": 1, "table": 2} {
		if roles[role] < least {
			t.Errorf("%d elements are a %s, want %d: %v", roles[role], role, least, roles)
		}
	}
	if roles["image"]+roles["img"] < 4 {
		t.Errorf("figures are no images: %v", roles)
	}
}
