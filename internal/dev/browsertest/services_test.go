package browsertest_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/member"
)

// fills replaces the text of a field by name, in the form with a label.
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
	p.sees(".panel .plain", "is declined: insufficient_funds")
	p.presses("Let it fail")
	p.sees(".panel .plain", "fails with Unavailable")
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

func TestPage_SavesATestThatPasses(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{Test: simulator.Test{Package: "browsertest_test"}})
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.says("kettles")
	p.presses("Buy")
	p.sees(".log", "You sent")
	p.says("a person")
	p.sees(".people", "ticket")
	p.sendsPicture("https://shop.example/leak.png")
	p.bounces("ada@example.com")
	p.joinsGroup("Bob", "family")
	p.says("hi")
	p.sees(".log", "Hello Bob!")
	p.presses("Save")
	p.presses("Show as a Conversation")
	p.evaluatesTo(`document.querySelector(".source")?.value.includes("Ada taps [Buy]")`)
	p.evaluatesTo(`document.querySelector(".source")?.value.includes("Bob in family: hi")`)
	p.presses("Show as a Go test")
	p.evaluatesTo(`document.querySelector(".source")?.value.startsWith("// Saved")`)

	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	write("go.mod", strings.NewReplacer("go-sdk/internal/dev\n", "go-sdk/internal/dev/saved\n", "=> ../..", "=> "+root).Replace(read("../go.mod")))
	write("go.sum", read("../go.sum"))
	write("bot_test.go", read("bot_test.go"))
	write("saved_test.go", p.evaluates(`document.querySelector(".source").value`))
	command := exec.CommandContext(t.Context(), "go", "test", "-v", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestConversation")
}

func TestPage_NodesAndWhyDuringALiveChat(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("a person")
	p.sees(".log", "Somebody comes.")
	p.presses("Grace")
	p.presses("Take")
	p.says("Where does it leak?")
	p.sees(".log", "Where does it leak?")
	p.sees(".panel article", "The live chat took it. Grace is an agent, who stands at no node.")
	p.presses("Ada")
	p.says("At the lid.")
	p.sees(".panel article", "The live chat took it. Ada was in a live chat: nodes of the live-chat tree may answer, and else an agent does.")
	p.presses("Nodes")
	p.sees(".panel", "Ada is in a live chat: nodes of the live-chat tree may answer, and else an agent does.")
	p.sees(".panel", "What Ada wrote last: The live chat took it.")
	p.evaluatesTo(`document.querySelector(".answered") === null`)
	p.presses("Grace")
	p.presses("End the live chat")
	p.presses("Nodes")
	p.sees(".panel", "Grace is an agent. What Grace wrote last: The live chat took it.")
	p.presses("Ada")
	p.says("hi")
	p.presses("Nodes")
	p.sees(".panel", "Ada stands at no node: the head nodes answer. What Ada wrote last: The node hello answered.")
	p.evaluatesTo(`document.querySelector(".answered .name").textContent === "hello"`)
}

// adminPage opens the page of a host that has given up a message of Ada's.
func adminPage(t *testing.T) (*tab, *fakes.Platform) {
	t.Helper()
	started(t)
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.HandleFunc(func(context.Context, *botctx.Context) error {
		return boterr.New(boterr.InvalidArgument, "", "the kitchen has no such dish")
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	require.Error(t, ada.TrySays("a table for four"))
	handler, err := admin.Handler(admin.Config{Runtime: p.Runtime(), Apps: []string{fakes.DefaultApp}, MayWrite: true})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return window(t, server.URL+"/"), p
}

func TestAdmin_DiscardsADeadLetter(t *testing.T) {
	t.Parallel()
	page, p := adminPage(t)
	page.does(chromedp.Navigate(page.url))
	page.sees(".records", "Ada")
	page.does(chromedp.Click(`//a[contains(., "Dead letters")]`))
	page.sees(".records", "the kitchen has no such dish")
	page.does(chromedp.Click(`summary`))
	page.sees(".records", "a table for four")
	page.presses("Discard")
	page.sees("[role=status]", "The message was discarded.")
	require.Empty(t, p.DeadLetters())
}

func TestAdmin_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := axe(t)
	page, _ := adminPage(t)
	for scheme, width := range map[string]int64{"light": 360, "dark": 1280} {
		page.inScheme(scheme)
		page.sized(width)
		for kind, shows := range map[string]string{"members": "Ada", "agendas": "No agenda", "assignments": "No requests", "dead-letters": "kitchen"} {
			page.does(chromedp.Navigate(page.url + "?of=" + kind))
			page.sees("main", shows)
			page.evaluates(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`)
			page.pictured(fmt.Sprintf("admin-%s-%s-%d", kind, scheme, width))
			requireNoViolations(t, kind, page.violations(axe))
			page.fits(kind)
		}
	}
}
