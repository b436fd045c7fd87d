package browsertest_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/botctx/go-sdk/fakes/simulator"
)

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

// What stands in the address may be anything, also the name of something that every object has.
func TestPage_AddressesOfNothing(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	for _, query := range []string{"?branch=what/if", "?view=constructor", "?who=a/b&moment=c/d"} {
		p.goes(p.url + query)
		p.sees(".panel", "Why it was answered so")
	}
}
