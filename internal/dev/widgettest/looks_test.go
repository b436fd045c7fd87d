package widgettest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
	"github.com/botctx/go-sdk/internal/rounds"
)

// keepsNobodyOut requires that axe-core finds no problem on the page, and that everything fits.
func (p *tab) keepsNobodyOut(axe, view string) {
	p.T.Helper()
	p.KeepsNobodyOut(axe, view)
	p.fits(view)
}

// fits requires that nothing is wider than its container, and that tap targets are large enough.
func (p *tab) fits(view string) {
	p.T.Helper()
	require.Equal(p.T, "true", p.Evaluates(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`), view)
	require.Empty(p.T, p.Evaluates(`$$(".panel, .log, .bubble:not(:has(.cards)), .head, .composer, .replies").filter((one) => one.checkVisibility()
		&& one.scrollWidth > one.clientWidth + 1).map((one) => one.className + " " + one.scrollWidth + ">" + one.clientWidth).join()`), "%s: too wide", view)
	require.Empty(p.T, p.Evaluates(`$$("button, textarea, a.button, a.file").filter((one) => one.checkVisibility())
		.filter((one) => { const at = one.getBoundingClientRect(); return at.width < 44 || at.height < 44; }).map((one) => one.outerHTML).join()`),
		"%s: smaller than 44 pixels", view)
	require.Empty(p.T, p.Evaluates(`$$(".panel, .launcher, .preview").filter((one) => one.checkVisibility()).filter((one) => {
		const at = one.getBoundingClientRect();
		return at.left < 0 || at.top < 0 || at.right > innerWidth + 1 || at.bottom > innerHeight + 1;
	}).map((one) => one.className).join()`), "%s: outside of the window", view)
}

// look is a color scheme, direction and size for the chat.
type look struct {
	scheme, language string
	width, height    int64
}

func (l look) String() string {
	return fmt.Sprintf("%s-%s-%dx%d", l.scheme, l.language, l.width, l.height)
}

// looks are the looks for tests of the chat. They include each scheme, direction and width once; thorough tests use
// more. The last look of these is a window of 1280 by 720 at 200 %.
func looks(t *testing.T) []look {
	t.Helper()
	all := []look{{"light", "en", 1280, 800}, {"dark", "ar", 320, 568}}
	if rounds.Thorough(t) {
		all = append(all, look{"light", "ar", 1280, 800}, look{"dark", "en", 320, 568}, look{"dark", "de", 640, 360})
	}
	return all
}

func TestLooks_KeepNobodyOut(t *testing.T) {
	t.Parallel()
	axe := chromiumtest.Axe(t)
	for _, look := range looks(t) {
		t.Run(look.String(), func(t *testing.T) {
			t.Parallel()
			chat := newServer(t)
			chat.files = []uploaded{{name: "lid.png", mediaType: "image/png", content: picture(t)}}
			p := open(t, chat, "?lang="+look.language)
			p.Prefers("prefers-color-scheme", look.scheme)
			p.Sized(look.width, look.height)
			p.keepsNobodyOut(axe, "closed")
			p.opens()
			p.says("hi")
			p.Sees(".in strong", "Ada")
			p.says("cards")
			p.Sees(".card", "Kettle")
			p.says("table")
			p.Sees(".button", "Menu")
			p.gives(drop, "#panel", "a-very-long-name-of-a-file-that-does-not-fit-into-one-line-at-all.txt", []byte("one kettle"))
			p.Sees(".list:has(.in) .out a", "a-very-long-name")
			chat.refuses("messages", 413)
			p.says(strings.Repeat("unbreakable", 12))
			p.Sees(".retry", "request entity too large")
			chat.refuses("messages", 0)
			p.says("sure?")
			p.Sees(".replies button", "Later")
			chat.tells(`{"kind":"typing","from":"bot"}`)
			p.Sees(".dots", "")
			p.keepsNobodyOut(axe, "open")
			p.Holds(`$(".frame").dir === "` + map[bool]string{true: "rtl", false: "ltr"}[look.language == "ar"] + `"`)
			p.Types(kb.Escape)
			chat.says("bot", "", `{"type":"TEXT","text":"The kettle boils."}`)
			p.Sees(".preview", "The kettle boils.")
			p.keepsNobodyOut(axe, "news")
			p.keepsPolicy()
		})
	}
}

// TestLooks_Pictures takes the pictures for docs/pictures if BOTCTX_PICTURES names a folder.
func TestLooks_Pictures(t *testing.T) {
	t.Parallel()
	if os.Getenv(chromiumtest.PicturesVariable) == "" {
		t.Skipf("pictures are taken only into the folder that %s names", chromiumtest.PicturesVariable)
	}
	for _, scheme := range []string{"light", "dark"} {
		chat := newServer(t)
		p := open(t, chat, "?heading=Kettles")
		p.Prefers("prefers-color-scheme", scheme)
		p.Sized(481, 760)
		p.opens()
		p.says("hi")
		p.Sees(".in strong", "Ada")
		p.says("cards")
		p.Sees(".card", "Kettle")
		chat.says("agent", "Grace", `{"type":"TEXT","text":"The lid is *tight*, too."}`)
		p.says("sure?")
		p.Sees(".replies", "Later")
		p.Pictured("webchat-" + scheme)
	}
}

func TestLooks_SchemeFollowsTheSystemUnlessThePageSaysOtherwise(t *testing.T) {
	t.Parallel()
	const ground = `getComputedStyle(root.querySelector("#panel")).backgroundColor`
	const light, dark = "rgb(255, 255, 255)", "rgb(22, 24, 29)"
	chat := newServer(t)
	p := open(t, chat, "")
	p.Prefers("prefers-color-scheme", "light")
	require.Equal(t, light, p.Evaluates(ground))
	p.Prefers("prefers-color-scheme", "dark")
	require.Equal(t, dark, p.Evaluates(ground))
	p.Evaluates(`widget.setAttribute("theme", "light")`)
	require.Equal(t, light, p.Evaluates(ground))
	p.Evaluates(`widget.style.setProperty("--chat-background", "rgb(1, 2, 3)")`)
	require.Equal(t, "rgb(1, 2, 3)", p.Evaluates(ground))
}

func TestLooks_RightToLeft(t *testing.T) {
	t.Parallel()
	_, p := opened(t, "?lang=ar")
	p.Sees(".head", "الدردشة")
	require.Equal(t, "true", p.Evaluates(`$(".launcher").getBoundingClientRect().left < 100`), "the button stands on the other side")
	p.says("sure?")
	p.Sees(".replies", "Yes")
	require.Equal(t, "true", p.Evaluates(`$(".out .bubble").getBoundingClientRect().left < $(".in .bubble").getBoundingClientRect().left`))
	p.Evaluates(`root.querySelector(".replies button").focus()`)
	p.Types(kb.ArrowLeft)
	require.Equal(t, "No", p.Evaluates(`root.activeElement.innerText`), "arrows go where they point")
}

func TestLooks_Languages(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "?lang=de-AT")
	for language, label := range map[string]string{"de": "Chat öffnen", "zh-Hans": "打开聊天", "ar": "فتح الدردشة", "en-GB": "Open chat", "xx": "Open chat"} { //nolint:gosmopolitan // It is one of the languages.
		p.Evaluates(fmt.Sprintf(`widget.setAttribute("lang", %q)`, language))
		require.Equal(t, label, p.Evaluates(`$(".launcher").getAttribute("aria-label")`), language)
	}
}

func TestLooks_NothingMovesIfMotionIsUnwanted(t *testing.T) {
	t.Parallel()
	const motion = `getComputedStyle(root.querySelector(".dots i")).animationName`
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	chat.tells(`{"kind":"typing","from":"bot"}`)
	p.Sees(".dots", "")
	p.Prefers("prefers-reduced-motion", "no-preference")
	require.Equal(t, "dot", p.Evaluates(motion))
	p.Prefers("prefers-reduced-motion", "reduce")
	require.Equal(t, "none", p.Evaluates(motion))
}

func TestLooks_ForcedColoursKeepBorders(t *testing.T) {
	t.Parallel()
	_, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Prefers("forced-colors", "active")
	for _, selector := range []string{".in .bubble", ".out .bubble", ".send", ".head"} {
		require.Equal(t, "solid 1px", p.Evaluates(fmt.Sprintf(`(({ borderTopStyle, borderTopWidth }) => borderTopStyle + " " + borderTopWidth)(getComputedStyle($(%q)))`, selector)), selector)
	}
}

// On a phone, the chat covers the page and keeps the focus.
func TestLooks_NarrowIsModal(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "")
	p.Sized(320, 568)
	p.opens()
	require.Equal(t, "dialog true", p.Evaluates(`$("#panel").getAttribute("role") + " " + $("#panel").getAttribute("aria-modal")`))
	require.Equal(t, "0 0 320 568", p.Evaluates(`(({ x, y, width, height }) => [x, y, width, height].join(" "))($("#panel").getBoundingClientRect())`))
	for range 10 {
		p.Types(kb.Tab)
		require.Equal(t, "chat-widget", p.Evaluates(`document.activeElement.localName`))
	}
	p.Types(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift))
	require.Equal(t, "chat-widget", p.Evaluates(`document.activeElement.localName`))
	p.Sized(1280, 800)
	p.Holds(`!$("#panel").hasAttribute("aria-modal")`)
}

// mostStops is far more than the number of controls on any page.
const mostStops = 40

// tabsTo presses Tab until the control with a label has the focus. It requires that the focus is visible.
func (p *tab) tabsTo(label string) {
	p.T.Helper()
	for range mostStops {
		p.Types(kb.Tab)
		at := p.Evaluates(`(({ innerText, ariaLabel }) => ariaLabel || innerText)(root.activeElement ?? document.activeElement)`)
		if at == label {
			require.NotEqual(p.T, "none", p.Evaluates(`getComputedStyle(root.activeElement).outlineStyle`), "%s shows that it is focused", label)
			return
		}
	}
	require.Fail(p.T, "Tab does not come to it", label)
}

func TestLooks_TheKeyboardAloneDoesAll(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "")
	p.tabsTo("Open chat")
	p.Types(kb.Enter)
	p.Holds(`root.activeElement?.id === "field"`)
	p.Types("sure?")
	p.Types(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift))
	p.Types("really" + kb.Enter)
	p.Sees(".out", "sure?\nreally")
	p.Types("sure?" + kb.Enter)
	p.Sees(".replies", "Later")
	for range 2 { // The button for files is before the field.
		p.Types(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift))
	}
	require.Equal(t, "Yes", p.Evaluates(`root.activeElement.innerText`), "the toolbar is one stop")
	for _, step := range []struct{ key, text string }{{kb.ArrowRight, "No"}, {kb.End, "Later"}, {kb.ArrowRight, "Yes"}, {kb.ArrowLeft, "Later"}, {kb.Home, "Yes"}, {kb.ArrowDown, "No"}} {
		p.Types(step.key)
		require.Equal(t, step.text, p.Evaluates(`root.activeElement.innerText`))
	}
	p.Types(kb.Enter)
	p.Sees(".in", "As you like.")
	require.Equal(t, "field", p.Evaluates(`root.activeElement.id`))
	p.Types("table" + kb.Enter)
	p.Sees(".button", "Seven")
	p.Evaluates(`root.querySelector(".log").focus()`)
	p.tabsTo("Seven")
	p.Types(" ")
	p.Sees(".out", "Seven")
	p.Types(kb.Escape)
	p.SeesNot("#panel")
	require.Equal(t, "launcher", p.Evaluates(`root.activeElement.className`))
}

// Screen readers must announce new messages, but neither the history nor the visitor's own messages.
func TestLooks_LiveRegions(t *testing.T) {
	t.Parallel()
	_, p := opened(t, "")
	require.Equal(t, "log polite Messages", p.Evaluates(`["role", "aria-live", "aria-label"].map((name) => $(".log").getAttribute(name)).join(" ")`))
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	require.Equal(t, "You said:,Bot said:", p.Evaluates(`$$(".list .entry > .hidden").map((one) => one.textContent).join()`))
	require.Equal(t, "polite", p.Evaluates(`$(".log").getAttribute("aria-live")`))
	require.Equal(t, "3", p.Evaluates(`$$(".marks, .typing, .list:not(:has(.in))").filter((one) => one.getAttribute("aria-live") === "off").length`))
	p.reloads()
	p.opens()
	p.Sees(".in", "Hello Ada")
	require.Equal(t, "off", p.Evaluates(`$(".log").getAttribute("aria-live")`))
}
