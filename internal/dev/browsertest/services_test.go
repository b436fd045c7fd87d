package browsertest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
)

// fills replaces the text of a field in the form with a label.
func (p *tab) fills(form, name, text string) {
	p.T.Helper()
	field := fmt.Sprintf(`form[aria-label=%q] [name=%q]`, form, name)
	p.Fills(field, text)
}

// opens unfolds the details under a text.
func (p *tab) opens(text string) {
	p.T.Helper()
	p.Clicks("summary", text)
}

// sendsPicture has the current member send a picture.
func (p *tab) sendsPicture(url string) {
	p.T.Helper()
	p.opens("Send something other than text")
	p.fills("Send something else", "url", url)
	p.Presses("Send it")
	p.Sees(".log .in", "Picture "+url)
}

// bounces makes e-mail to an address bounce.
func (p *tab) bounces(address string) {
	p.T.Helper()
	p.goes(p.url + "?view=faults")
	p.fills("Mail bounces", "address", address)
	p.Presses("Let it bounce")
	p.Sees(".panel", "mail to "+address)
}

// joinsGroup adds a member on a platform with groups. The member joins a group and writes there.
func (p *tab) joinsGroup(name, group string) {
	p.T.Helper()
	p.opens("Add someone")
	p.fills("Add a member", "name", name)
	p.Selects(`form[aria-label="Add a member"] [name=where]`, "new:delta")
	p.Presses("Add member")
	p.Sees(".people", name)
	p.opens("Add someone")
	p.fills("Let a member join a group", "group", group)
	p.Presses("Join group")
	p.Presses(name + " in " + group)
}

func TestPage_GroupsFilesAndWhatServicesRefuse(t *testing.T) {
	t.Parallel()
	bot := fakes.New()
	bot.Handle(nodes()...)
	ada := bot.AddMember(member.Member{FirstName: "Ada", Email: "ada@example.com"})
	p := openWith(t, simulator.Simulator{Platform: bot, Members: []*fakes.Actor{ada}, Accounts: []*fakes.Account{bot.AddAccount("shop")}})
	p.sendsPicture("https://shop.example/leak.png")
	p.bounces("ada@example.com")
	p.Presses("Decline it")
	p.Sees(".panel .plain", "is declined: insufficient_funds")
	p.Presses("Let it fail")
	p.Sees(".panel .plain", "fails with Unavailable")
	p.joinsGroup("Bob", "family")
	p.says("hi")
	p.Sees(".log", "Hello Bob!")
	p.opens("Send something other than text")
	p.opens("Add someone")
	for i, look := range looks(t) {
		p.looksAs(look)
		p.keepsNobodyOut(inTurn(t, chromiumtest.Axe(t), i), "group", look)
		p.isSeen(`.people [aria-pressed="true"]`, look.width)
	}
	p.sized(1280)
	p.Presses("Timeline")
	p.Sees(".moments", "The next charge of shop is declined: insufficient_funds")
	p.Sees(".moments", "The next mail fails: Unavailable")
}

// When something happens, here in another tab, the page is redrawn. Text in a field must stay.
func TestPage_KeepsWhatIsWrittenWhenDrawnAgain(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	drawnAgain := func(minutes int) {
		p.acts(`{"do":"advance","with":{"by":"1m"}}`)
		p.Sees(".clock", fmt.Sprintf("00:%02d:00", minutes))
	}
	p.Presses("Faults")
	p.Selects(`[name=operation]`, "upsertDataToDataSource")
	p.Fills(`[name=nth]`, "3")
	p.fills("Mail bounces", "address", "bob@example.com")
	p.Selects(`form[aria-label="The next mail or upload fails"] [name=what]`, "file")
	drawnAgain(1)
	require.Equal(t, "upsertDataToDataSource 3 bob@example.com file",
		p.Evaluates(`["operation", "nth", "address", "what"].map((name) => root.querySelector(`+"`[name=${name}]`"+`).value).join(" ")`))
	p.Presses("Time")
	p.fills("Let any time pass", "amount", "7")
	p.Selects(`form[aria-label="Let any time pass"] [name=unit]`, "h")
	drawnAgain(2)
	require.Equal(t, "7 h", p.Evaluates(`["amount", "unit"].map((name) => root.querySelector(`+"`[name=${name}]`"+`).value).join(" ")`))
}

func TestPage_SavesATestThatPasses(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{Test: simulator.Test{Package: "browsertest_test"}})
	p.says("hi")
	p.Sees(".log", "Hello Ada!")
	p.says("kettles")
	p.Presses("Buy")
	p.Sees(".log", "You sent")
	p.says("a person")
	p.Sees(".people", "ticket")
	p.sendsPicture("https://shop.example/leak.png")
	p.bounces("ada@example.com")
	p.joinsGroup("Bob", "family")
	p.says("hi")
	p.Sees(".log", "Hello Bob!")
	p.Presses("Save")
	p.Presses("Show as a conversation")
	p.Holds(`document.querySelector(".source")?.value.includes("Ada taps [Buy]")`)
	p.Holds(`document.querySelector(".source")?.value.includes("Bob in family: hi")`)
	p.Presses("Show as a Go test")
	p.Holds(`document.querySelector(".source")?.value.startsWith("// Saved")`)

	// TestSave_TestsPass in fakes/console usually runs the saved tests, because compiling them takes longer than this
	// whole test.
	if !rounds.Thorough(t) {
		return
	}
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
	write("saved_test.go", p.Evaluates(`document.querySelector(".source").value`))
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-v", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestConversation")
}

func TestPage_NodesAndWhyDuringALiveChat(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("a person")
	p.Sees(".log", "Somebody comes.")
	p.Presses("Grace")
	p.Presses("Take")
	p.says("Where does it leak?")
	p.Sees(".log", "Where does it leak?")
	p.Sees(".panel article", "It went to the live chat. Grace is an agent and has no position.")
	p.Presses("Ada")
	p.says("At the lid.")
	p.Sees(".panel article", "It went to the live chat. Ada was in a live chat: nodes of the live-chat tree may answer; otherwise an agent does.")
	p.Presses("Nodes")
	p.Sees(".panel", "Ada is in a live chat: nodes of the live-chat tree may answer; otherwise an agent does.")
	p.Sees(".panel", "Last message of Ada: It went to the live chat.")
	p.Holds(`document.querySelector(".answered") === null`)
	p.Presses("Grace")
	p.Presses("End the live chat")
	p.Presses("Nodes")
	p.Sees(".panel", "Grace is an agent. Last message of Grace: It went to the live chat.")
	p.Presses("Ada")
	p.says("hi")
	p.Presses("Nodes")
	p.Sees(".panel", "Ada is at no node: the head nodes may answer. Last message of Ada: The node hello answered.")
	p.Holds(`document.querySelector(".answered .name").textContent === "hello"`)
}

// adminPage opens the admin page of a host with a dead letter from Ada.
func adminPage(t *testing.T) (*tab, *fakes.Platform) {
	t.Helper()
	chromiumtest.Require(t)
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.HandleFunc(func(context.Context, *botctx.Context) error {
		return boterr.New(boterr.InvalidArgument, "", "the kitchen has no such dish")
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	require.Error(t, ada.TrySays("a table for four"))
	handler, err := admin.Handler(admin.Config{Runtime: p.Runtime(), Apps: []string{fakes.DefaultApp}, MayWrite: true})
	require.NoError(t, err)
	return window(t, chromiumtest.Serve(t, handler).URL+"/"), p
}

func TestAdmin_DiscardsADeadLetter(t *testing.T) {
	t.Parallel()
	page, p := adminPage(t)
	page.Goes(page.url, `$("main")`)
	page.Sees(".records", "Ada")
	page.Clicks("a", "Dead letters")
	page.Sees(".records", "the kitchen has no such dish")
	page.Clicks(`summary`, "")
	page.Sees(".records", "a table for four")
	page.Presses("Discard")
	page.Sees("[role=status]", "The message was discarded.")
	require.Empty(t, p.DeadLetters())
}

func TestAdmin_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := chromiumtest.Axe(t)
	page, _ := adminPage(t)
	for i, look := range []look{{"light", 360}, {"dark", 1280}} {
		page.looksAs(look)
		for _, of := range []struct{ kind, shows string }{
			{"members", "Ada"}, {"agendas", "No agenda"}, {"assignments", "No requests"}, {"dead-letters", "kitchen"},
		} {
			i++
			page.Goes(page.url+"?of="+of.kind, `$("main")`)
			page.Sees("main", of.shows)
			page.Runs(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`)
			page.keepsNobodyOut(inTurn(t, axe, i), "admin-"+of.kind, look)
		}
	}
}
