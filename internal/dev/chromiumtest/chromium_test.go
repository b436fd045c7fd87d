package chromiumtest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
)

func TestMain(m *testing.M) { chromiumtest.Main(m) }

// shows opens a page with the given content.
func shows(t *testing.T, content string) *chromiumtest.Page {
	t.Helper()
	p := chromiumtest.Open(t)
	server := chromiumtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>Test</title>"+content)
	}))
	p.Goes(server.URL, `document.readyState === "complete"`)
	return p
}

// log is a part of a page that shows what was clicked.
const log = `<p id="log"></p><script>const log = document.querySelector("#log"), note = (text) => { log.textContent += text + " "; };</script>`

// A moving button is clicked when it stops. Its neighbour must never be clicked.
func TestClicks_WhatMoves(t *testing.T) {
	t.Parallel()
	p := shows(t, log+`<div id="space"></div><button onclick="note('first')">First</button><br><button onclick="note('second')">Second</button>
		<script>let steps = 0; const move = setInterval(() => { document.querySelector("#space").style.height = steps++ * 7 % 100 + "px"; if (steps > 60) clearInterval(move); }, 5);</script>`)
	p.Presses("Second")
	p.Sees("#log", "second")
	require.Equal(t, "second ", p.Evaluates(`root.querySelector("#log").textContent`))
}

// If the page redraws an element before the click, the click is repeated. The new element must get only one click.
func TestClicks_WhatIsReplaced(t *testing.T) {
	t.Parallel()
	p := shows(t, log+`<div id="place"><button>Take</button></div><script>
		const place = document.querySelector("#place"), draw = () => {
			place.innerHTML = "<button onclick='note(1)'>Take</button>";
		};
		let left = 3;
		addEventListener("mousedown", () => { if (left-- > 0) place.innerHTML = "<button onclick='note(\"wrong\")'>Other</button>"; setTimeout(draw, 50); });
		draw();</script>`)
	p.Presses("Take")
	p.Sees("#log", "1")
	require.Equal(t, "1 ", p.Evaluates(`root.querySelector("#log").textContent`))
}

func TestClicks_WhatIsDisabledHiddenOrCoveredAtFirst(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]string{
		"disabled": `button.disabled = true; setTimeout(() => { button.disabled = false; }, 100);`,
		"hidden":   `button.hidden = true; setTimeout(() => { button.hidden = false; }, 100);`,
		"absent":   `button.remove(); setTimeout(() => { document.body.append(button); }, 100);`,
		"covered":  `const cover = document.createElement("div"); cover.style = "position: fixed; inset: 0"; document.body.append(cover); setTimeout(() => { cover.remove(); }, 100);`,
	} {
		p := shows(t, log+`<button onclick="note('clicked')">Go</button><script>const button = document.querySelector("button"); `+state+`</script>`)
		p.Presses("Go")
		p.Sees("#log", "clicked")
		require.Equal(t, "clicked ", p.Evaluates(`root.querySelector("#log").textContent`), name)
	}
}

func TestClicks_WhatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	p := shows(t, `<a href="?there">There</a>`)
	p.Clicks("a", "There")
	p.Holds(`location.search === "?there"`)
}

func TestClicks_LabelsSummariesAndShadows(t *testing.T) {
	t.Parallel()
	p := shows(t, `<label><input type="checkbox"> Yes</label><details><summary>More</summary><p>Details</p></details><x-one></x-one>
		<script>const inner = document.querySelector("x-one").attachShadow({ mode: "open" }); inner.innerHTML = "<button>In</button>"; inner.firstChild.onclick = () => { document.title = "In"; };</script>`)
	p.Clicks("input", "")
	p.Holds(`root.querySelector("input").checked`)
	p.Clicks("summary", "More")
	p.Sees("p", "Details")
	p.Names = `const root = document.querySelector("x-one").shadowRoot;`
	p.Presses("In")
	p.Holds(`document.title === "In"`)
}

// The field may be replaced before the text arrives. The text is then appended to the text of the new field.
func TestWrites_IntoWhatIsReplaced(t *testing.T) {
	t.Parallel()
	p := shows(t, `<div></div><script>
		let left = 3; const place = document.querySelector("div"), draw = () => { place.innerHTML = "<input value='a'>"; };
		addEventListener("focusin", () => { if (left-- > 0) draw(); });
		setTimeout(draw, 50);</script>`)
	p.Writes("input", "bc")
	require.Equal(t, "abc", p.Evaluates(`root.querySelector("input").value`))
	p.Fills("input", "d")
	require.Equal(t, "d", p.Evaluates(`root.querySelector("input").value`))
	p.Fills("input", "")
	require.Empty(t, p.Evaluates(`root.querySelector("input").value`))
}

func TestSends_TextAndEnter(t *testing.T) {
	t.Parallel()
	p := shows(t, log+`<form onsubmit="event.preventDefault(); note(event.target.text.value)"><input name="text"></form>`)
	p.Sends("input", "hello")
	p.Sees("#log", "hello")
}

func TestSelects_ByValue(t *testing.T) {
	t.Parallel()
	p := shows(t, log+`<select onchange="note(this.value)"><option>a</select><script>setTimeout(() => document.querySelector("select").add(new Option("b")), 50)</script>`)
	p.Selects("select", "b")
	p.Sees("#log", "b")
}

// The condition may become true only on the next page.
func TestHolds_OverANewPage(t *testing.T) {
	t.Parallel()
	p := shows(t, `<script>setTimeout(() => { if (!location.search) location.search = "next"; }, 50)</script>`)
	p.Holds(`location.search === "?next"`)
}
