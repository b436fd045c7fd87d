package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/member"
)

// fills writes into the field of a name in the form of a label, in the place of what stands there.
func (p *tab) fills(form, name, text string) {
	p.t.Helper()
	field := fmt.Sprintf(`form[aria-label=%q] [name=%q]`, form, name)
	p.does(chromedp.WaitVisible(field), chromedp.SetValue(field, text))
}

// opens shows what is folded below a text.
func (p *tab) opens(text string) {
	p.t.Helper()
	p.does(chromedp.Click(fmt.Sprintf(`//summary[contains(normalize-space(.), %q)]`, text), chromedp.NodeVisible))
}

// sendsPicture lets who speaks send a picture.
func (p *tab) sendsPicture(url string) {
	p.t.Helper()
	p.opens("Send something else than a text")
	p.fills("Send something else", "url", url)
	p.presses("Send it")
	p.sees(".log .in", "Picture "+url)
}

// bounces lets mail to an address bounce.
func (p *tab) bounces(address string) {
	p.t.Helper()
	p.goes(p.url + "?view=faults")
	p.fills("Mail bounces", "address", address)
	p.presses("Let it bounce")
	p.sees(".panel", "mail to "+address)
}

// joinsGroup adds a member on a platform with groups, who joins one, and speaks there.
func (p *tab) joinsGroup(name, group string) {
	p.t.Helper()
	p.opens("Add somebody")
	p.fills("Add a member", "name", name)
	p.does(chromedp.SetValue(`form[aria-label="Add a member"] [name=where]`, "new:delta"))
	p.presses("Add the member")
	p.sees(".people", name)
	p.opens("Add somebody")
	p.fills("Let a member join a group", "group", group)
	p.presses("Join the group")
	p.presses(name + " in " + group)
}

func TestPage_GroupsFilesAndWhatServicesRefuse(t *testing.T) {
	t.Parallel()
	bot := fakes.New()
	bot.Handle(nodes()...)
	ada := bot.AddMember(member.Member{FirstName: "Ada", Email: "ada@example.com"})
	p := openWith(t, simulator.Simulator{Platform: bot, Members: []*fakes.Actor{ada}, Accounts: []*fakes.Account{bot.AddAccount("shop")}})
	p.sendsPicture("https://shop.example/leak.png")
	p.bounces("ada@example.com")
	p.presses("Decline it")
	p.presses("Let it fail")
	p.joinsGroup("Bob", "family")
	p.says("hi")
	p.sees(".log", "Hello Bob!")
	p.opens("Send something else than a text")
	p.opens("Add somebody")
	for _, look := range looks(t) {
		p.looksAs(look)
		p.keepsNobodyOut(axe(t), "group", look)
		p.isSeen(`.people [aria-pressed="true"]`, look.width)
	}
	p.sized(1280)
	p.presses("Timeline")
	p.sees(".moments", "The next charge of shop is declined: insufficient_funds")
	p.sees(".moments", "Fault: the next mail fails with Unavailable")
}
