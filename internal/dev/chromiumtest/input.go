package chromiumtest

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// aimed is the position of an element, or the reason why the element cannot be clicked.
type aimed struct {
	X, Y float64
	Why  string
}

// element returns a JavaScript function that finds the first visible element with a selector and a text.
func (p *Page) element(selector, text string) string {
	return `() => { ` + p.Names + fmt.Sprintf(`
		return [...root.querySelectorAll(%s)].find((one) => driver.isSeen(one) && driver.shows(one, %s) && !one.disabled)
			?? [...root.querySelectorAll(%[1]s)].find((one) => driver.shows(one, %[2]s)); }`, quoted(selector), quoted(text))
}

// Clicks clicks the first element with a selector and a text. It waits until the element is visible, enabled and not
// moving. If the page moves or redraws the element before the click, it tries again. A click that would hit another
// element does not reach the page.
func (p *Page) Clicks(selector, text string) {
	p.T.Helper()
	what := fmt.Sprintf("a click on %s %q", selector, text)
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	for missed := ""; ; {
		var at aimed
		asks(ctx, p, what, fmt.Sprintf(`driver.aim(%s, %d)`, p.element(selector, text), part.Milliseconds()), func(value aimed) string {
			at = value
			return value.Why
		})
		if err := chromedp.Do(ctx, chromedp.MouseClickXY(at.X, at.Y)); err != nil {
			p.fails(ctx, what, fmt.Sprintf("%v %s", err, missed))
		}
		// If the click opened another page, that page does not know the click.
		asks(ctx, p, what, `driver.arrived()`, func(value string) string { missed = value; return "" })
		if missed == "" {
			return
		}
	}
}

// Presses clicks the button with a text.
func (p *Page) Presses(text string) {
	p.T.Helper()
	p.Clicks("button", text)
}

// focused is the text of the focused field, or the reason why no field is focused.
type focused struct {
	Value, Why string
}

// Writes appends a text to a field, like a keyboard.
func (p *Page) Writes(selector, text string) {
	p.T.Helper()
	p.puts(selector, text, false)
}

// Fills replaces the text of a field, like a keyboard.
func (p *Page) Fills(selector, text string) {
	p.T.Helper()
	p.puts(selector, text, true)
}

// puts waits until a field is visible, enabled and not moving, and enters a text. If the page replaces the field
// before that, it tries again. If the field loses the text, the test fails.
func (p *Page) puts(selector, text string, isReplaced bool) { //nolint:revive // Writes and Fills name the two cases.
	p.T.Helper()
	what := fmt.Sprintf("the text %q in %s", text, selector)
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	for {
		var before focused
		find := p.element(selector, "")
		asks(ctx, p, what, fmt.Sprintf(`driver.focus(%s, %t, %d)`, find, isReplaced, part.Milliseconds()), func(value focused) string {
			before = value
			return value.Why
		})
		want := text
		if !isReplaced {
			want = before.Value + text
		}
		if err := chromedp.Do(ctx, inserts(text)); err != nil {
			p.fails(ctx, what, err)
		}
		var kept string
		asks(ctx, p, what, fmt.Sprintf(`driver.keeps(%s, %s, %d)`, find, quoted(want), part.Milliseconds()), func(value string) string {
			if kept = value; kept == "replaced" {
				return ""
			}
			return kept
		})
		if kept == "" {
			return
		}
	}
}

// inserts enters a text at the caret. An empty text deletes the selection.
func inserts(text string) chromedp.Action[chromedp.Void] {
	if text == "" {
		return chromedp.KeyEvent(kb.Delete)
	}
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	}
}

// Enters presses Enter in a field. If the page moves the focus before that, it tries again.
func (p *Page) Enters(selector string) {
	p.T.Helper()
	what := "Enter in " + selector
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	for {
		watch := fmt.Sprintf(`driver.keyed(%s, %d)`, p.element(selector, ""), part.Milliseconds())
		asks(ctx, p, what, watch, func(value focused) string { return value.Why })
		if err := chromedp.Do(ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
			p.fails(ctx, what, err)
		}
		var missed string
		asks(ctx, p, what, `driver.arrived()`, func(value string) string { missed = value; return "" })
		if missed == "" {
			return
		}
	}
}

// Sends appends a text to a field and presses Enter.
func (p *Page) Sends(selector, text string) {
	p.T.Helper()
	p.Writes(selector, text)
	p.Enters(selector)
}

// Types presses keys. They go to the element that has the focus.
func (p *Page) Types(keys string, modifiers ...chromedp.KeyOption) {
	p.T.Helper()
	p.Does(chromedp.KeyEvent(keys, modifiers...))
}

// Selects chooses the option with a value.
func (p *Page) Selects(selector, value string) {
	p.T.Helper()
	what := fmt.Sprintf("the choice of %q in %s", value, selector)
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	choose := fmt.Sprintf(`driver.selects(%s, %s, %d)`, p.element(selector, ""), quoted(value), part.Milliseconds())
	asks(ctx, p, what, choose, func(why string) string { return why })
}

// Uploads chooses files in a file input, which may be hidden.
func (p *Page) Uploads(selector string, names ...string) {
	p.T.Helper()
	p.Holds(fmt.Sprintf(`root.querySelector(%s)`, quoted(selector)))
	p.Does(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		find := `(() => { ` + p.Names + ` return root.querySelector(` + quoted(selector) + `); })()`
		field, err := chromedp.Evaluate[*runtime.RemoteObject](find)(ctx, target)
		if err != nil {
			return chromedp.Void{}, err
		}
		_, err = chromedp.Call(ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: names, ObjectID: field.ObjectID})
		return chromedp.Void{}, err
	})
}
