package browsertest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/session/sessiontest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

// deskHost is a host with a desk and a started Runtime.
type deskHost struct {
	t       *testing.T
	runtime *botctx.Runtime
	desk    *desk.Desk
	agents  []desk.Agent
	urls    map[string]string
	servers []*httptest.Server
	// isOut is true if no agent is signed in.
	isOut atomic.Bool

	mu   sync.Mutex
	sent []send.Message
}

// Send is the connector for the members' platform.
func (h *deskHost) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, message)
	return send.Delivery{}, nil
}

// got reports whether a member received a text.
func (h *deskHost) got(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.sent, func(m send.Message) bool {
		return strings.Contains(m.Response.Object().String(), text)
	})
}

// newDesk starts a desk. The default agents are Grace and Eve.
func newDesk(t *testing.T, agents ...desk.Agent) *deskHost {
	t.Helper()
	chromiumtest.Require(t)
	if len(agents) == 0 {
		agents = []desk.Agent{{ID: "grace", Name: "Grace", Apps: []string{"shop"}}, {ID: "eve", Name: "Eve", Apps: []string{"shop"}}}
	}
	h := &deskHost{t: t, agents: agents, urls: map[string]string{}}
	database := memstore.New()
	var err error
	h.desk, err = desk.New(desk.Config{Store: database})
	require.NoError(t, err)
	h.runtime, err = botctx.New(botctx.Config{
		Store: database, Connectors: send.Connectors{channel.Webchat: h, desk.Type: h.desk},
	})
	require.NoError(t, err)
	for _, c := range []*channel.Channel{
		{ID: "web", Name: "Our page", Type: channel.Webchat, On: true},
		{ID: "desk", Type: desk.Type, On: true, BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "team"}}},
			{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sellers", Type: "team"}}},
		}},
	} {
		_, err := h.runtime.SaveChannel(t.Context(), "shop", c)
		require.NoError(t, err)
	}
	require.NoError(t, h.runtime.Pair(t.Context(), "shop", "web", "desk"))
	require.NoError(t, h.runtime.Handle(&botctx.Node{ID: "person", Trigger: botctx.TextIs("a person"), Pre: botctx.Do(sessiontest.CallPerson)}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = h.runtime.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	for _, agent := range agents {
		h.serve(agent)
	}
	return h
}

func (h *deskHost) serve(agent desk.Agent) {
	h.t.Helper()
	handler, err := h.desk.Handler(desk.PageConfig{
		Runtime: h.runtime,
		Agent: func(*http.Request) (*desk.Agent, error) {
			if h.isOut.Load() {
				return nil, nil
			}
			return &agent, nil
		},
		Files: func(_ context.Context, file utility.StoredFile) (string, error) {
			_, err := io.Copy(io.Discard, file.Content)
			return "https://files.example/" + file.Name, err
		},
		Transcript: func(context.Context, *member.Member, document.Timestamp, int) ([]desk.Line, error) {
			return []desk.Line{{IsMember: true, At: 1, Response: send.Text("a person")}, {At: 2, Response: send.Text("Somebody comes.")}}, nil
		},
	})
	require.NoError(h.t, err)
	server := chromiumtest.Serve(h.t, http.StripPrefix("/desk", handler))
	h.servers = append(h.servers, server)
	h.urls[agent.ID] = server.URL + "/desk/"
}

// says sends a text from a member to the bot.
func (h *deskHost) says(who, text string) {
	h.t.Helper()
	require.NoError(h.t, h.runtime.Accept(h.t.Context(), botctx.Inbound{
		App: "shop", Channel: "web", Profile: member.Member{
			FirstName: who, Meta: document.O("plan", "gold", "<b>key</b>", xss), Tags: document.A("vip", xss), Email: "ada@example.com",
		},
		Event: send.MessageEvent{From: who, To: "bot", Type: send.TypeText, Data: document.O("text", text), MessageID: h.runtime.Env().NewID()},
	}))
}

func (h *deskHost) opens(agent string) *tab {
	h.t.Helper()
	p := window(h.t, h.urls[agent])
	p.Goes(p.url, `$("main.has-list")`)
	return p
}

// writes puts a text into the field for answers or notes and presses Enter.
func (p *tab) writes(text string) {
	p.T.Helper()
	p.Sends(`#say`, text)
}

// takes has the agent take the waiting chat of a member.
func (p *tab) takes(name string) {
	p.T.Helper()
	p.Presses("Waiting")
	p.chooses(name)
	p.Presses("Take")
}

// chooses opens a chat from the list.
func (p *tab) chooses(name string) {
	p.T.Helper()
	p.Clicks(`button.chat-row`, name)
	p.Sees(".chat-head h2", name)
}

func TestDesk_Whole(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	grace, eve := h.opens("grace"), h.opens("eve")
	h.says("Ada", "a person")
	grace.Sees(".head nav", "Waiting 1")
	grace.Presses("Waiting")
	grace.chooses("Ada")
	grace.Sees(".panel", "ada@example.com")
	grace.Sees(".panel", "gold")
	grace.Sees(".log", "A kettle leaks.")
	eve.Presses("Waiting")
	eve.chooses("Ada")

	// Both agents take the chat at the same time. One gets it, and the other sees that agent's name.
	eve.Runs(`window.fetched = fetch; window.held = []; window.fetch = (...of) => String(of[0]).endsWith("/take") ? new Promise((go) => held.push(go)).then(() => fetched(...of)) : fetched(...of)`)
	eve.Presses("Take")
	eve.Holds(`held.length === 1`)
	grace.Presses("Take")
	grace.Sees(".chat-head", "your chat")
	eve.Runs(`window.fetch = fetched; held[0]()`)
	eve.Sees(".talk .problem", "Grace took it first")
	eve.Sees(".chat-head", "Grace has this chat")

	grace.writes("Where does it leak?")
	grace.Sees(".entry.agent", "Where does it leak?")
	h.waits("Where does it leak?")
	eve.Sees(".entry.agent", "Where does it leak?")
	h.says("Ada", "At the lid.")
	grace.Sees(".entry.member", "At the lid.")
	eve.writes("She has the old model.")
	grace.Sees(".entry.note", "She has the old model.")
	require.False(t, h.got("She has the old model."), "notes are for agents")

	grace.Presses("Hand over")
	grace.Selects(`dialog select[name=to]`, "agent eve")
	grace.Writes(`dialog textarea`, "Yours.")
	grace.Clicks(`dialog form button.main`, "")
	eve.Presses("Mine")
	eve.Sees(".list", "for you")
	eve.chooses("Ada")
	eve.Presses("Take")
	eve.Presses("Show the chat before the hand-over")
	eve.Sees(".log", "At the lid.")
	eve.Sees(".log", "Yours.")
	eve.opens("Before, with the bot")
	eve.Sees(".panel", "Somebody comes.")
	eve.Presses("End")
	eve.Clicks(`dialog button.main`, "")
	eve.Sees(".talk", "This chat is over")
	eve.Presses("Closed")
	eve.Sees(".list", "Ada")
	grace.Sees(".talk", "This chat is over: it was handed over")
}

func TestDesk_WritesWithoutStorage(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	h.says("Ada", "a person")
	p := window(h.t, h.urls["grace"])
	p.Prepares(`for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get() { throw new Error("refused"); } })`)
	p.Goes(p.url, `$("main.has-list")`)
	p.takes("Ada")
	p.writes("Where does it leak?")
	h.waits("Where does it leak?")
}

// waits returns once a member has received the text.
func (h *deskHost) waits(text string) {
	h.t.Helper()
	chromiumtest.Eventually(h.t, "the member's message: "+text, func() bool { return h.got(text) })
}

func TestDesk_CannedAnswersQuickRepliesAndFiles(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	h.says("Ada", "a person")
	p := h.opens("grace")
	p.takes("Ada")
	p.Presses("Canned answers")
	p.Presses("New")
	p.Writes(`dialog input[name=short]`, "hello")
	p.Writes(`dialog textarea[name=text]`, "Hello {{firstName}}, you have {{meta.plan}}.")
	p.Presses("Save")
	p.Sees("dialog .answers", "/hello")
	p.Presses("Use")
	p.Holds(`document.querySelector("#say").value === "Hello Ada, you have gold."`)
	p.writes("")
	h.waits("Hello Ada, you have gold.")
	p.Writes(`#say`, "/he")
	p.Sees(".offers", "/hello")
	p.Types(kb.Enter)
	p.Holds(`document.querySelector("#say").value === "Hello Ada, you have gold."`)
	p.Runs(`document.querySelector("#say").select()`)
	p.Types("Still there?")
	p.Holds(`document.querySelector("#say").value === "Still there?"`)
	p.Presses("Quick replies")
	p.Writes(`.composer .field textarea`, "Yes\nNo")
	p.Presses("Send")
	h.waits(`"title":"No"`)
	p.Sees(".entry.agent .choices", "Yes")
	name := filepath.Join(t.TempDir(), "leak.txt")
	require.NoError(t, os.WriteFile(name, []byte("drip"), 0o600))
	p.Uploads(`input[type=file]`, name)
	p.Sees(".entry.agent", "leak.txt")
	h.waits("https://files.example/")
}

func TestDesk_KeyboardAlone(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	p := h.opens("grace")
	for i, who := range []string{"Ada", "Bob"} { // The chat that has waited longest is first.
		h.says(who, "a person")
		p.Sees(".head nav", fmt.Sprintf("Waiting %d", i+1))
	}
	p.Types("2")
	p.Sees(".list", "Bob")
	p.Types("j")
	p.Sees(".chat-head h2", "Ada")
	p.Types("t")
	p.Sees(".chat-head", "your chat")
	p.Holds(`document.activeElement?.id === "say"`)
	p.Types("Hello!" + kb.Enter)
	h.waits("Hello!")
	p.Types(kb.Escape)
	p.Types("n")
	p.Holds(`document.querySelector(".composer.is-note") !== null && document.activeElement.id === "say"`)
	p.Types("A note." + kb.Enter)
	p.Sees(".entry.note", "A note.")
	p.Types(kb.Escape)
	p.Types("e")
	p.Sees("dialog", "End the chat")
	p.Holds(`document.activeElement?.closest("dialog") !== null`)
	p.Types(kb.Escape)
	p.Holds(`document.querySelector("dialog") === null`)
	p.Types("e")
	p.Sees("dialog", "End the chat")
	p.Types(kb.Enter)
	p.Sees(".talk", "This chat is over")
	p.Types("/")
	p.Holds(`document.activeElement?.type === "search"`)
	p.Runs(`document.activeElement.select()`) // The driver also types the slash. The next text must replace it.
	p.Types("Bob" + kb.Enter)
	p.Runs(`document.activeElement.blur()`)
	p.Types("2")
	p.Types("k")
	p.Sees(".chat-head h2", "Bob")
	p.Types("?")
	p.Sees("dialog", "Keys and settings")
	p.Types(kb.Escape)
}

func TestDesk_UnsentTextStaysWithItsChat(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	h.says("Ada", "a person")
	h.says("Bob", "a person")
	p := h.opens("grace")
	for _, who := range []string{"Ada", "Bob"} {
		p.takes(who)
		p.Writes(`#say`, "To "+who)
	}
	p.Presses("Mine")
	p.chooses("Ada")
	p.Holds(`document.querySelector("#say").value === "To Ada"`)
	p.Reloads(`$("#say")`)
	p.Holds(`document.querySelector("#say").value === "To Ada"`)

	// A text that cannot be sent stays in the field. The next attempt sends it once.
	p.Runs(`window.fetched = fetch; window.fetch = (...of) => String(of[0]).endsWith("/messages") ? fetched(...of).then(() => { throw new TypeError("lost"); }) : fetched(...of)`)
	p.writes("")
	p.Sees(".log", "To Ada")
	p.Runs(`window.fetch = fetched`)
	p.Presses("Try again")
	p.Holds(`document.querySelector(".unsent") === null`)
	require.Equal(t, "1", p.Evaluates(`[...document.querySelectorAll(".entry.agent")].filter((one) => one.innerText.includes("To Ada")).length`))
}

func TestDesk_UnreadInTitle(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	h.says("Ada", "a person")
	p := h.opens("grace")
	p.takes("Ada")
	h.says("Bob", "a person")
	p.Holds(`document.title.startsWith("(1) ")`)
	p.takes("Bob")
	h.says("Ada", "Are you there?")
	p.Holds(`document.title.startsWith("(1) ")`)
	p.Presses("Mine")
	p.chooses("Ada")
	p.Holds(`!document.title.startsWith("(")`)
	p.Clicks(`.head input[role=switch]`, "")
	h.opens("eve").Holds(`document.title.endsWith("Desk")`)
}

// An agent's second tab receives events through the first one.
func TestDesk_SecondTab(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	p := h.opens("grace")
	h.says("Ada", "a person")
	p.Sees(".head nav", "Waiting 1")
	p.Runs(`window.other = open(location.href, "", "popup")`)
	p.Holds(`other.document.querySelector(".head nav")?.innerText.includes("Waiting")  && /Waiting\s+1/.test(other.document.querySelector(".head nav").innerText)`)
	h.says("Bob", "a person")
	p.Holds(`/Waiting\s+2/.test(other.document.querySelector(".head nav").innerText)`)
}

func TestDesk_SignedOut(t *testing.T) {
	t.Parallel()
	h := newDesk(t)
	p := h.opens("grace")
	h.says("Ada", "a person")
	p.Sees(".head nav", "Waiting 1")
	h.servers[0].CloseClientConnections()
	h.says("Bob", "a person")
	p.Sees(".head nav", "Waiting 2")
	h.isOut.Store(true)
	h.servers[0].CloseClientConnections()
	p.Sees("#page", "You are no longer signed in.")
}

// xss would change the page's title if it were treated as markup.
const xss = `<img src=x onerror="document.title='injected'"><script>document.title="injected"</script><b class="injected">x</b>`

func TestDesk_NothingIsMarkup(t *testing.T) {
	t.Parallel()
	h := newDesk(t, desk.Agent{ID: "grace", Name: "Grace " + xss, Apps: []string{"shop"}}, desk.Agent{ID: "eve" + xss[:40], Name: xss, Apps: []string{"shop"}})
	h.says(xss[:60], "a person")
	p, eve := h.opens("grace"), h.opens("eve"+xss[:40])
	p.Presses("Waiting")
	p.Clicks(`.chat-row`, "")
	p.Presses("Take")
	p.writes(xss)
	p.Sees(".entry.agent", xss[:20])
	h.says(xss[:60], xss)
	p.Sees(".entry.member", xss[:20])
	require.NoError(t, h.runtime.Accept(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: xss[:60], To: "bot", Type: send.TypeMisc, MessageID: "m", Data: document.O("text", xss, "attachments", document.A(
			document.O("type", xss, "url", `javascript:document.title="injected"`, "name", xss), document.O("type", "image", "payload", document.O("url", "data:text/html,"+xss)),
			document.O("type", "location", "payload", document.O("coordinates", document.O("lat", document.O("toString", xss), "long", 1))),
		), "odd", document.O(xss, xss, "noTimeAt", 1e300), "buttons", document.A(document.O("title", xss, "url", "javascript:alert(1)"))),
	}}))
	p.Sees(".entry.member", "javascript:")
	p.Presses("Note")
	p.writes(xss)
	p.Sees(".entry.note", xss[:20])
	p.Presses("Answer")
	p.Presses("Canned answers")
	p.Presses("New")
	p.Writes(`dialog input[name=short]`, "<b>x</b>"[:3])
	p.Writes(`dialog textarea[name=text]`, xss)
	p.Presses("Save")
	p.Sees("dialog .answers", xss[:20])
	p.Types(kb.Escape)
	p.Holds(`document.querySelector("dialog") === null`)
	p.Presses("Hand over")
	p.Holds(`document.querySelector("dialog optgroup:nth-of-type(2)")?.label === "Available agents"`)
	p.Types(kb.Escape)
	p.Holds(`document.querySelector("dialog") === null`)
	eve.Presses("All")
	eve.Clicks(`.chat-row`, "")
	eve.Sees(".log", xss[:20])
	for _, one := range []*tab{p, eve} {
		require.Equal(t, "0", one.Evaluates(`document.querySelectorAll(".injected, #page script, #page img, a[href^=javascript], a[href^=data]").length`))
		require.NotEqual(t, "injected", one.Evaluates(`document.title`))
	}
}

func TestDesk_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := chromiumtest.Axe(t)
	for l, look := range deskLooks(t) {
		t.Run(look.String(), func(t *testing.T) {
			t.Parallel()
			h := newDesk(t)
			for _, who := range []string{"Ada", "Bob", "Carol"} {
				h.says(who, "a person")
			}
			p := h.opens("grace")
			p.looksAs(look)
			p.Presses("Waiting")
			p.keepsNobodyOut(axe, "desk-waiting", look)
			p.chooses("Ada")
			p.keepsNobodyOut(axe, "desk-untaken", look)
			p.Presses("Take")
			p.writes("Where does it leak?")
			h.says("Ada", "At the lid, and it is a very long message that goes on: https://shop.example/"+strings.Repeat("leak", 40))
			p.Sees(".entry.member", "At the lid")
			p.Presses("Note")
			p.writes("She has the old model.")
			p.Sees(".entry.note", "old model")
			p.Presses("Answer")
			p.Presses("Quick replies")
			p.keepsNobodyOut(axe, "desk-chat", look)
			if look.width == 1280 {
				p.looksAs(middle)
				p.keepsNobodyOut(axe, "desk-chat", middle)
				p.looksAs(look)
			}
			for i, dialog := range []string{"Hand over", "Canned answers", "Keys and settings", "End"} {
				p.Presses(dialog)
				p.Sees("dialog", "Close")
				if dialog == "Canned answers" {
					p.Presses("New")
				}
				p.keepsNobodyOut(inTurn(t, axe, i+l), "desk-"+strings.ToLower(strings.ReplaceAll(dialog, " ", "-")), look)
				p.Types(kb.Escape)
				p.Holds(`document.querySelector("dialog") === null`)
			}
			if look.width < 1180 {
				p.Presses("About the member")
			}
			p.Sees(".panel", "gold")
			p.keepsNobodyOut(axe, "desk-panel", look)
		})
	}
}

// middle is a window that shows the list and the chat, but not the panel.
var middle = look{"light", 900}

// deskLooks are the looks for tests of the desk: a wide dark one and a narrow phone. Thorough tests, and pictures,
// use more.
func deskLooks(t *testing.T) []look {
	t.Helper()
	all := []look{{"dark", 1280}, {"light", 320}}
	if rounds.Thorough(t) || os.Getenv(chromiumtest.PicturesVariable) != "" {
		all = append(all, middle, look{"light", 360}, look{"light", 1280}, look{"dark", 360})
	}
	return all
}
