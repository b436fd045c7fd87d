package browsertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
	"github.com/botctx/go-sdk/internal/rounds"
)

func TestPage_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := chromiumtest.Axe(t)
	p := played(t)
	for i, look := range looks(t) {
		p.looksAs(look)
		for _, view := range []string{"chat", "time", "timeline", "why", "nodes", "records", "faults", "save"} {
			i++
			p.goes(p.url + "?view=" + view)
			p.keepsNobodyOut(inTurn(t, axe, i), view, look)
			p.isSeen(`.views [aria-current="page"]`, look.width)
		}
		p.goes(p.url + "?view=chat")
		p.Presses("Grace")
		p.Sees(".desk", "Tickets")
		p.keepsNobodyOut(inTurn(t, axe, i+1), "desk", look)
	}
}

// look is a color scheme and a width of a page.
type look struct {
	scheme string
	width  int64
}

func (l look) String() string { return fmt.Sprintf("%s-%d", l.scheme, l.width) }

// looks are the looks for tests of pages. They include each scheme and each width once; thorough tests, and pictures,
// use all combinations.
func looks(t *testing.T) []look {
	t.Helper()
	all := []look{{"light", 360}, {"dark", 1280}}
	if rounds.Thorough(t) || os.Getenv(chromiumtest.PicturesVariable) != "" {
		all = append(all, look{"light", 1280}, look{"dark", 360})
	}
	return all
}

// inTurn returns axe for every second check of a test, and "" for the others, because axe-core is slow. So a test
// with two looks checks each view with axe-core in one of them. That is enough: other checks cover the width, and the
// views share their colors. Thorough tests always use axe-core.
func inTurn(t *testing.T, axe string, number int) string {
	t.Helper()
	if number%2 == 0 || rounds.Thorough(t) {
		return axe
	}
	return ""
}

// looksAs applies a look to the page.
func (p *tab) looksAs(as look) {
	p.T.Helper()
	p.Prefers("prefers-color-scheme", as.scheme)
	p.sized(as.width)
}

// keepsNobodyOut requires that the page fits into the window and, unless axe is "", that axe-core finds no problem.
func (p *tab) keepsNobodyOut(axe, view string, as look) {
	p.T.Helper()
	p.Pictured(view + "-" + as.String())
	if axe != "" {
		p.KeepsNobodyOut(axe, view)
	}
	p.fits(view)
}

// played opens a page on which each kind of action has happened.
func played(t *testing.T) *tab {
	t.Helper()
	p := open(t, simulator.Simulator{})
	for _, text := range []string{"hi", "coupon", "remind me", "kettles", "break", "a person", "sure?"} {
		p.says(text)
		p.Sees(".log", text)
	}
	p.Presses("Faults")
	p.Presses("Plan it")
	p.Sees(".panel", "fails with Unavailable")
	return p
}

// fits requires that the page is no wider than the window.
func (p *tab) fits(view string) {
	p.T.Helper()
	p.Holds(fmt.Sprintf(`document.documentElement.scrollWidth <= document.documentElement.clientWidth /* %s */`, view))
}

// isSeen requires that an element, if there is one, is within the window at every scroll position.
func (p *tab) isSeen(selector string, width int64) {
	p.T.Helper()
	p.Holds(fmt.Sprintf(`[...document.querySelectorAll(%q)].every((one) => { const at = one.getBoundingClientRect(); return at.left >= -1 && at.right <= %d + 1; })`,
		selector, width))
}

// fullySeen returns the condition that an element is completely visible without scrolling, in its full size.
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
	p.Sees(".problems", "there is no node menue")
	for _, width := range []int64{1280, 360} {
		p.sized(width)
		for _, who := range []string{"Ada", "Grace"} {
			p.Presses(who)
			p.Holds(fullySeen(".composer textarea"))
			p.Holds(fullySeen(".composer button"))
			p.Holds(fullySeen(".log"))
		}
	}
}

// Long lists must show their newest entry first, or be scrolled to it.
func TestPage_ListsOpenAtTheirNewestEnd(t *testing.T) {
	t.Parallel()
	p := blank(t, simulator.Simulator{}, nodes()...)
	for range 60 {
		p.acts(`{"do":"say","with":{"person":"member-1","text":"hi"}}`)
	}
	p.acts(`{"do":"say","with":{"person":"member-1","text":"sure?"}}`)
	p.goes(p.url)
	p.Sees(".log", "Are you sure?")
	p.Presses("Records")
	p.Holds(`(document.querySelector(".panel").scrollTop = 1e6) > 0`)
	for _, width := range []int64{1280, 360} {
		p.sized(width)
		p.Presses("Timeline")
		p.Holds(fullySeen(`.moments [aria-current="step"]`))
		p.Sees(`.moments li:first-child`, "Ada: sure?")
		p.Presses("Records")
		p.Holds(`[...document.querySelectorAll("caption")].find((one) => one.textContent === "Outbox").closest("table").querySelector("tbody tr").textContent.includes("Are you sure?")`)
	}
	p.Clicks("summary", "Transcript")
	p.Holds(`(() => { const all = document.querySelector(".transcript"); return all.scrollHeight > all.clientHeight && all.scrollTop + all.clientHeight >= all.scrollHeight - 1; })()`)
}

func TestPage_DraftsAreKeptPerPerson(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	write := func(text string) { p.Writes(`#say`, text) }
	has := func(text string) { p.Holds(fmt.Sprintf(`document.querySelector("#say")?.value === %q`, text)) }
	write("What does")
	p.opens("Send something other than text")
	p.Writes(`[aria-label="Send something else"] [name=url]`, "https://shop.example/leak.png")
	p.Presses("Grace")
	has("")
	write("One moment")
	p.Presses("Ada")
	has("What does")
	p.Holds(`document.querySelector('[aria-label="Send something else"] [name=url]').value === "https://shop.example/leak.png"`)
	p.Presses("Grace")
	has("One moment")
	p.sized(360) // At this width, another view replaces the chat.
	p.Presses("Time")
	p.Holds(`document.querySelector("#say") === null`)
	p.Presses("Chat")
	has("One moment")
	p.Presses("Ada")
	p.Sends(`#say`, " it cost?")
	p.Sees(".log .in", "What does it cost?")
	p.Presses("Grace")
	p.Presses("Ada")
	has("")
}

// changing is a bot that logs its messages and can change while it runs.
type changing struct {
	log simulator.Log
	// isBroken makes the next reload fail. isLooked is true once the last change was detected.
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

// breaks makes the next reload fail.
func (c *changing) breaks() {
	c.isBroken.Store(true)
	c.isLooked.Store(false)
}

func TestPage_ShowsWhatIsLoggedAndWhatIsBroken(t *testing.T) {
	t.Parallel()
	var bot changing
	p := openWith(t, simulator.Simulator{Reload: bot.look, Log: &bot.log})
	p.says("log")
	p.Sees(".panel .lines", "it heard log script order.js:2")
	p.Sees(".panel .problem", "order.js:3:7: the till does not answer")
	bot.breaks()
	p.Sees(".problems", "The bot was not reloaded.")
	p.says("hi")
	p.Sees(".log", "Hello Ada!")
	p.goes(p.url + "?view=why")
	for i, look := range looks(t) {
		p.looksAs(look)
		p.keepsNobodyOut(inTurn(t, chromiumtest.Axe(t), i+1), "broken", look)
	}
}

func TestPage_NamesOfAnyCharacters(t *testing.T) {
	t.Parallel()
	names := []string{"../what/if?branch=main&who=#%2F<b>&amp;"}
	if rounds.Thorough(t) {
		names = append(names, "what/if", "?branch=main&who=#%2F", `../<b>&amp;`)
	}
	for _, name := range names {
		p := open(t, simulator.Simulator{Bot: name})
		p.opens("Add someone")
		p.fills("Add a member", "name", name)
		p.Selects(`form[aria-label="Add a member"] [name=where]`, "new:delta")
		p.Presses("Add member")
		p.Sees(".people", name)
		p.opens("Add someone")
		p.fills("Let a member join a group", "group", name)
		p.Presses("Join group")
		p.Sees(".people", name+" in "+name)
		p.Presses(name + " in " + name)
		p.says("hi")
		p.Sees(".log", "Hello "+name+"!")
		p.Presses("Timeline")
		p.Fills(`input[name=name][placeholder="what if"]`, name)
		p.Presses("Fork here")
		p.Sees(".head", name+" (3 steps)")
		p.says("sure?")
		p.Sees(".log", "Are you sure?")
		p.Reloads(isThere)
		p.Sees(".log", "Are you sure?")
		p.Presses("Save")
		p.Presses("Show as a conversation")
		p.Holds(`document.querySelector(".source")?.value.includes("Are you sure?")`)
		p.Presses("Timeline")
		p.Presses("main")
		p.Holds(`!document.querySelector(".log").innerText.includes("Are you sure?")`)
	}
}

// The address may contain any name, even the name of a property that every JavaScript object has.
func TestPage_AddressesOfNothing(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	for _, query := range []string{"?branch=what/if", "?view=constructor", "?who=a/b&moment=c/d"} {
		p.goes(p.url + query)
		p.Sees(".panel", "Why this answer")
	}
}
