package browsertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/internal/rounds"
)

// axePath is the path of axe-core after npm ci. It finds barriers for people who use a page.
const axePath = "../node_modules/axe-core/axe.min.js"

// picturesVariable names a folder for pictures of the page, to be looked at. Without it there are none.
const picturesVariable = "BOTCTX_PICTURES"

// violation is a finding of axe-core.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// axe returns axe-core, and skips the test where it is not there.
func axe(t *testing.T) string {
	t.Helper()
	code, err := os.ReadFile(axePath)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("axe-core is not there: npm ci --ignore-scripts in internal/dev gets it")
	}
	require.NoError(t, err)
	return string(code)
}

func TestPage_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := axe(t)
	for _, look := range looks(t) {
		t.Run(look.String(), func(t *testing.T) {
			t.Parallel()
			p := played(t)
			p.looksAs(look)
			for _, view := range []string{"chat", "time", "timeline", "why", "nodes", "records", "faults", "save"} {
				p.goes(p.url + "?view=" + view)
				p.keepsNobodyOut(axe, view, look)
				p.isSeen(`.views [aria-current="page"]`, look.width)
			}
			p.goes(p.url + "?view=chat")
			p.presses("Grace")
			p.sees(".desk", "Tickets")
			p.keepsNobodyOut(axe, "desk", look)
		})
	}
}

// look is a scheme and a width of a page.
type look struct {
	scheme string
	width  int64
}

func (l look) String() string { return fmt.Sprintf("%s-%d", l.scheme, l.width) }

// looks are the looks in which pages are checked: each scheme and each width once, and all in thorough tests,
// or for pictures.
func looks(t *testing.T) []look {
	t.Helper()
	all := []look{{"light", 360}, {"dark", 1280}}
	if rounds.Thorough(t) || os.Getenv(picturesVariable) != "" {
		all = append(all, look{"light", 1280}, look{"dark", 360})
	}
	return all
}

// looksAs shows the page so.
func (p *tab) looksAs(as look) {
	p.t.Helper()
	p.inScheme(as.scheme)
	p.sized(as.width)
}

// keepsNobodyOut requires of what the page shows that axe-core finds nothing, and that it fits.
func (p *tab) keepsNobodyOut(axe, view string, as look) {
	p.t.Helper()
	p.pictured(view + "-" + as.String())
	requireNoViolations(p.t, view, p.violations(axe))
	p.fits(view)
}

// played opens a page on which something of everything has happened.
func played(t *testing.T) *tab {
	t.Helper()
	p := open(t, simulator.Simulator{})
	for _, text := range []string{"hi", "coupon", "remind me", "kettles", "break", "a person", "sure?"} {
		p.says(text)
		p.sees(".log", text)
	}
	p.presses("Faults")
	p.presses("Plan it")
	p.sees(".panel", "fails with Unavailable")
	return p
}

// violations returns what axe-core finds on the page as it is now.
func (p *tab) violations(axe string) []violation {
	p.t.Helper()
	p.does(chromedp.Evaluate[chromedp.Void](axe + "; undefined"))
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](
		`axe.run({resultTypes: ["violations"]}).then((found) => JSON.stringify(found.violations))`, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	var found []violation
	require.NoError(p.t, json.Unmarshal([]byte(text), &found))
	return found
}

func requireNoViolations(t *testing.T, view string, found []violation) {
	t.Helper()
	var text strings.Builder
	for _, one := range found {
		for _, node := range one.Nodes {
			fmt.Fprintf(&text, "%s (%s): %s\n%s\n", one.ID, one.Help, node.HTML, node.Summary)
		}
	}
	require.Empty(t, text.String(), view)
}

// fits requires that the page is no wider than the window.
func (p *tab) fits(view string) {
	p.t.Helper()
	require.Equal(p.t, "true", p.evaluates(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`), view)
}

// isSeen requires that an element is within the window, if there is one, however the page is scrolled.
func (p *tab) isSeen(selector string, width int64) {
	p.t.Helper()
	p.evaluatesTo(fmt.Sprintf(`[...document.querySelectorAll(%q)].every((one) => { const at = one.getBoundingClientRect(); return at.left >= -1 && at.right <= %d + 1; })`,
		selector, width))
}

// pictured keeps a picture of the page if one is asked for.
func (p *tab) pictured(name string) {
	p.t.Helper()
	folder := os.Getenv(picturesVariable)
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
}

// fullySeen is the condition that an element stands wholly in the window without scrolling, and is not squeezed.
func fullySeen(selector string) string {
	return fmt.Sprintf(`(() => {
		const at = document.querySelector(%q)?.getBoundingClientRect();
		return scrollY === 0 && at?.top >= 0 && at.height >= 30 && at.bottom <= innerHeight;
	})()`, selector)
}

func TestPage_TheComposerIsSeenWhateverStandsAboveIt(t *testing.T) {
	t.Parallel()
	var bot changing
	p := openWith(t, simulator.Simulator{Reload: bot.look, Log: &bot.log, Bot: strings.Repeat("A bot with a long name ", 6)})
	for range 5 {
		p.acts(`{"do":"say","with":{"person":"member-1","text":"kettles"}}`)
	}
	p.acts(`{"do":"say","with":{"person":"member-1","text":"a person"}}`)
	bot.breaks()
	p.sees(".problems", "there is no node menue")
	for _, width := range []int64{1280, 360} {
		p.sized(width)
		for _, who := range []string{"Ada", "Grace"} {
			p.presses(who)
			p.evaluatesTo(fullySeen(".composer textarea"))
			p.evaluatesTo(fullySeen(".composer button"))
			p.evaluatesTo(fullySeen(".log"))
		}
	}
}

// A long list begins with its newest entry, or opens at its end.
func TestPage_ListsOpenAtTheirNewestEnd(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	for range 60 {
		p.acts(`{"do":"say","with":{"person":"member-1","text":"hi"}}`)
	}
	p.acts(`{"do":"say","with":{"person":"member-1","text":"sure?"}}`)
	p.sees(".log", "Are you sure?")
	p.presses("Records")
	p.evaluatesTo(`(document.querySelector(".panel").scrollTop = 1e6) > 0`)
	for _, width := range []int64{1280, 360} {
		p.sized(width)
		p.presses("Timeline")
		p.evaluatesTo(fullySeen(`.moments [aria-current="step"]`))
		p.sees(`.moments li:first-child`, "Ada: sure?")
		p.presses("Records")
		p.evaluatesTo(`[...document.querySelectorAll("caption")].find((one) => one.textContent === "Outbox").closest("table").querySelector("tbody tr").textContent.includes("Are you sure?")`)
	}
	p.does(chromedp.Click(`//summary[contains(., "Transcript")]`))
	p.evaluatesTo(`(() => { const all = document.querySelector(".transcript"); return all.scrollHeight > all.clientHeight && all.scrollTop + all.clientHeight >= all.scrollHeight - 1; })()`)
}

func TestPage_DraftsAreKeptPerPerson(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	write := func(text string) { p.does(chromedp.SendKeys(`#say`, text, chromedp.NodeVisible)) }
	has := func(text string) { p.evaluatesTo(fmt.Sprintf(`document.querySelector("#say")?.value === %q`, text)) }
	write("What does")
	p.opens("Send something else than a text")
	p.does(chromedp.SendKeys(`[aria-label="Send something else"] [name=url]`, "https://shop.example/leak.png", chromedp.NodeVisible))
	p.presses("Grace")
	has("")
	write("One moment")
	p.presses("Ada")
	has("What does")
	p.evaluatesTo(`document.querySelector('[aria-label="Send something else"] [name=url]').value === "https://shop.example/leak.png"`)
	p.presses("Grace")
	has("One moment")
	p.sized(360) // There, another view takes the place of the chat.
	p.presses("Time")
	p.evaluatesTo(`document.querySelector("#say") === null`)
	p.presses("Chat")
	has("One moment")
	p.presses("Ada")
	p.does(chromedp.SendKeys(`#say`, " it cost?\r", chromedp.NodeVisible))
	p.sees(".log .in", "What does it cost?")
	p.presses("Grace")
	p.presses("Ada")
	has("")
}

// changing is a bot that logs what it hears, and that can be changed while it runs.
type changing struct {
	log simulator.Log
	// isBroken is true if the next look finds an error, isLooked if the last change was found.
	isBroken, isLooked atomic.Bool
}

func (c *changing) look() ([]*botctx.Node, bool, error) {
	if c.isLooked.Swap(true) {
		return nil, false, nil
	}
	if c.isBroken.Load() {
		return nil, true, boterr.Invalid("", "2 problems:\n  order.js:2:4: Unexpected \";\"\n  nodes.json:4:3: there is no node menue")
	}
	logger := slog.New(c.log.Handler())
	return append(nodes(), &botctx.Node{
		ID: "log", Global: botctx.GlobalInTree, Trigger: botctx.TextIs("log"),
		Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			logger.InfoContext(ctx, "it heard "+bot.MessageEvent.Text(), "script", "order.js:2")
			logger.WarnContext(ctx, "and fails")
			return boterr.New(boterr.Unavailable, "", "order.js:3:7: the till does not answer")
		}),
	}), true, nil
}

// breaks lets the next look find something wrong.
func (c *changing) breaks() {
	c.isBroken.Store(true)
	c.isLooked.Store(false)
}

func TestPage_ShowsWhatIsLoggedAndWhatIsBroken(t *testing.T) {
	t.Parallel()
	var bot changing
	p := openWith(t, simulator.Simulator{Reload: bot.look, Log: &bot.log})
	p.says("log")
	p.sees(".panel .lines", "it heard log script order.js:2")
	p.sees(".panel .problem", "order.js:3:7: the till does not answer")
	bot.breaks()
	p.sees(".problems", "The bot stays as it was.")
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.goes(p.url + "?view=why")
	for _, look := range looks(t) {
		p.looksAs(look)
		p.keepsNobodyOut(axe(t), "broken", look)
	}
}

func TestPage_NamesOfAnyCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"what/if", "?branch=main&who=#%2F", `../<b>&amp;`} {
		p := open(t, simulator.Simulator{Bot: name})
		p.opens("Add somebody")
		p.fills("Add a member", "name", name)
		p.does(chromedp.SetValue(`form[aria-label="Add a member"] [name=where]`, "new:delta"))
		p.presses("Add the member")
		p.sees(".people", name)
		p.opens("Add somebody")
		p.fills("Let a member join a group", "group", name)
		p.presses("Join the group")
		p.sees(".people", name+" in "+name)
		p.presses(name + " in " + name)
		p.says("hi")
		p.sees(".log", "Hello "+name+"!")
		p.presses("Timeline")
		p.does(chromedp.SetValue(`input[name=name][placeholder="what if"]`, name))
		p.presses("Fork here")
		p.sees(".head", name+" (3 steps)")
		p.says("sure?")
		p.sees(".log", "Are you sure?")
		p.does(chromedp.Reload(), chromedp.WaitVisible(`main.wide`))
		p.sees(".log", "Are you sure?")
		p.presses("Save")
		p.presses("Show as a Conversation")
		p.evaluatesTo(`document.querySelector(".source")?.value.includes("Are you sure?")`)
		p.presses("Timeline")
		p.presses("main")
		p.evaluatesTo(`!document.querySelector(".log").innerText.includes("Are you sure?")`)
	}
}

// The address may hold anything, also the name of a property that every object has.
func TestPage_AddressesOfNothing(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	for _, query := range []string{"?branch=what/if", "?view=constructor", "?who=a/b&moment=c/d"} {
		p.goes(p.url + query)
		p.sees(".panel", "Why it was answered so")
	}
}
