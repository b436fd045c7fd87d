package browsertest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/botctx/go-sdk/fakes/simulator"
)

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

// A long list begins with its newest entry, or stands at its end.
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
