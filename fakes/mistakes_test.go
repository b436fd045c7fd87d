package fakes_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// mistake is a test by a newcomer to the SDK, and its output.
type mistake struct {
	test func(p *fakes.Platform)
	// prints is a whole line that the failing test prints, without the virtual time at its beginning. "The
	// bot" replaces the function names of these tests, by which errors name a bot.
	prints string
}

// onHi returns a test in which Ada says hi to a bot of one function and reads the answer.
func onHi(bot botctx.Action) func(p *fakes.Platform) {
	return func(p *fakes.Platform) {
		p.HandleFunc(bot)
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		ada.Says("hi")
		ada.Last()
	}
}

// reminds returns a test of a bot that schedules an agenda for Ada, whose id is member-1.
func reminds(p agenda.NewParams) func(*fakes.Platform) {
	return onHi(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, p)
		return err
	})
}

// find returns a test of a bot that reads from a data source of the shop.
func find(dataSource string, filter document.Object) func(*fakes.Platform) {
	return func(p *fakes.Platform) {
		p.AddData("coupons", document.O("code", "SPRING", "taken", false))
		onHi(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: dataSource, Filter: filter})
			return err
		})(p)
	}
}

// call returns a test of a bot that calls an operation by name.
func call(name, args string) func(*fakes.Platform) {
	return onHi(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.Call(ctx, name, json.RawMessage(args))
		return err
	})
}

var mistakesOfNodes = map[string]mistake{
	"a node id misspelt in a redirect": {
		test: func(p *fakes.Platform) {
			p.Handle(textNode("order", "order"))
			call("redirectMemberToNode", `{"memberId": "member-1", "nodeCompositeId": "ordr"}`)(p)
		},
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): redirectMemberToNode: not found: nodeCompositeId: ` +
			`there is no node ordr: check the id, or give the node to Handle: did you mean "order"?`,
	},
	"a placeholder misspelt": {
		test: func(p *fakes.Platform) {
			p.Handle(&botctx.Node{ID: "day", Trigger: botctx.AnyText(), Responses: botctx.Say("See you on {{meta.dya}}.")})
			p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("day", "Monday")}).Says("hi")
			p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable)) // The test fails because of the injected fault that no call meets.
		},
		prints: `{{meta.dya}} is filled with nothing: member-1 has no value there`,
	},
	"a placeholder misspelt, in a text of nothing else": {
		test: func(p *fakes.Platform) {
			p.Handle(&botctx.Node{ID: "name", Trigger: botctx.AnyText(), Responses: botctx.Say("{{firstNme}}")})
			p.AddMember(member.Member{FirstName: "Ada"}).Says("hi")
		},
		prints: `fakes: Ada sent TEXT: node name: response 1: sendResponse: invalid argument: response.text: ` +
			`is empty: the member has no value for {{firstNme}}`,
	},
	"two buttons of one title": {
		test: func(p *fakes.Platform) {
			p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				return bot.Reply(ctx, send.Carousel(
					send.Card{Title: "Tea", Buttons: []send.Button{send.Postback("Buy", "tea")}},
					send.Card{Title: "Cake", Buttons: []send.Button{send.Postback("Buy", "cake")}}))
			})
			ada := p.AddMember(member.Member{FirstName: "Ada"})
			ada.Says("menu")
			ada.TapsOn("Buy")
		},
		prints: `fakes: Ada tapped on "Buy": failed precondition: 2 buttons of one message have that title, ` +
			`with the payloads "tea", "cake": give one of them to Taps`,
	},
	"a node id misspelt in an agenda": {
		test: func(p *fakes.Platform) {
			p.Handle(textNode("reminder", "remind me"))
			reminds(agenda.NewParams{
				MemberID: "member-1", NodeCompositeID: "remindr", NextRunAt: document.TimestampOf(p.Now().Add(time.Hour)),
			})(p)
		},
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: not found: nodeCompositeId: ` +
			`there is no node remindr: check the id, or give the node to Handle: did you mean "reminder"?`,
	},
	"SavesPosition forgotten": {
		test: func(p *fakes.Platform) {
			p.Handle(textNode("ask", "hi"), childNode("answer", "ask", "yes"))
			ada := p.AddMember(member.Member{FirstName: "Ada"})
			ada.Says("hi")
			ada.Says("yes")
			ada.TapsOn("More")
		},
		prints: `nothing answers: no position - heads: ask (trigger did not match); "answer" needs the position "ask", which no node saves`,
	},
	"a parent misspelt": {
		test: func(p *fakes.Platform) { p.Handle(textNode("question", "hi"), childNode("answer", "qestion", "yes")) },
		prints: `fakes: Handle: invalid argument: Parent: the tree "" has no node qestion, which is the parent of answer: pass the parent to Handle first, or in the same call: ` +
			`did you mean "question"?`,
	},
	"two nodes of one id": {
		test:   func(p *fakes.Platform) { p.Handle(textNode("ask", "hi"), textNode("ask", "hello")) },
		prints: `fakes: Handle: already exists: ID: there is a node ask already: give each node of a tree a different ID`,
	},
	"an action that is nil": {
		test:   func(p *fakes.Platform) { p.Handle(&botctx.Node{ID: "ask", Pre: botctx.Do(nil)}) },
		prints: `fakes: Handle: invalid argument: Pre: the node ask has a nil action: give a function, or remove it`,
	},
	"a template that can never be sent": {
		test: func(p *fakes.Platform) {
			p.Handle(&botctx.Node{ID: "ask", Responses: []send.Response{send.Buttons("{{firstName}}").WithPlaceholders()}})
		},
		prints: `fakes: Handle: invalid argument: Responses[0].buttons: is missing; give 1 to 3 elements (node ask)`,
	},
	"a function beside a node that answers": {
		test: func(p *fakes.Platform) {
			p.Handle(textNode("hello", "hi"))
			onHi(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Yes?")) })(p)
			p.AddMember(member.Member{FirstName: "Bob"}).Last()
		},
		prints: `node hello answers: head, no position`,
	},
	"a trigger that does not match": {
		test: func(p *fakes.Platform) {
			p.Handle(textNode("hello", "hello"))
			ada := p.AddMember(member.Member{FirstName: "Ada"})
			ada.Says("hi")
			ada.Last()
		},
		prints: `nothing answers: no position - heads: hello (trigger did not match)`,
	},
	"a panic": {
		test: onHi(func(ctx context.Context, bot *botctx.Context) error {
			words := strings.Fields(bot.MessageEvent.Text())
			return bot.Reply(ctx, send.Text("You ask for "+words[1]))
		}),
		prints: `    at the bot (mistakes_test.go)`,
	},
	"a button misspelt": {
		test: func(p *fakes.Platform) {
			p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				return bot.Reply(ctx, send.Buttons("What next?", send.Postback("Order", "order"), send.Postback("Help", "help")))
			})
			ada := p.AddMember(member.Member{FirstName: "Ada"})
			ada.Says("hi")
			ada.TapsOn("Oder")
		},
		prints: `fakes: Ada tapped on "Oder": failed precondition: Ada sees nothing with that title to tap, but [Order], [Help]`,
	},
}

var mistakesOfData = map[string]mistake{
	"a data source misspelt": {
		test: find("cupons", document.O("taken", false)),
		prints: `fetchDataFromDataSource {"dataSourceId":"cupons","filter":{"taken":false}} -> 0 found ` +
			`(the data source "cupons" was never added; did you mean "coupons"?)`,
	},
	"a data source forgotten": {
		test: find("prices", document.O("of", "tea")),
		prints: `fetchDataFromDataSource {"dataSourceId":"prices","filter":{"of":"tea"}} -> 0 found ` +
			`(the data source "prices" was never added: AddData adds it)`,
	},
	"a field misspelt in a filter": {
		test: find("coupons", document.O("takn", false)),
		prints: `fetchDataFromDataSource {"dataSourceId":"coupons","filter":{"takn":false}} -> 0 found ` +
			`(no entry has the field "takn"; did you mean "taken"?)`,
	},
	"a template as a text": {
		test: func(p *fakes.Platform) {
			onHi(func(ctx context.Context, bot *botctx.Context) error {
				return bot.Reply(ctx, send.Text("Hello {{firstName}}!"))
			})(p)
			p.AddMember(member.Member{FirstName: "Bob"}).Last()
		},
		prints: `Ada got {{firstName}} to the letter, as a text has it: send.Template is filled from the member`,
	},
	"an operation misspelt": {
		test: call("newAgend", `{}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgend: invalid argument: ` +
			`there is no operation with this name; use a name of the specification; did you mean "newAgenda"?`,
	},
	"a parameter misspelt": {
		test: call("newAgenda", `{"memberId": "member-1", "nodeCompositId": "reminder", "nextRunAt": 5}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: nodeCompositeId: ` +
			`is missing; give the id of the node to run`,
	},
	"a patch that is missing": {
		test: call("findAndModifyMember", `{"filter": {}}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): findAndModifyMember: invalid argument: patch: is missing; ` +
			`give an update, such as {"$set": {"name": "Ada"}}; fields without an operator replace the whole record`,
	},
	"an operator misspelt": {
		test: call("findAndModifyMember", `{"filter": {}, "patch": {"$incr": {"meta.count": 1}}}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): findAndModifyMember: invalid argument: patch.$incr: ` +
			`$incr is not an update operator, or is not supported: did you mean $inc?`,
	},
	"operators without withModifier": {
		test: call("findAndModifyMember", `{"filter": {}, "patch": {"$set": {"firstName": "Eve"}}, "withModifier": false}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): findAndModifyMember: invalid argument: patch.$set: ` +
			`looks like an operator, but without withModifier a patch has only fields to set; set withModifier`,
	},
}

var mistakesOfAgendas = map[string]mistake{
	"no member": {
		test:   reminds(agenda.NewParams{NodeCompositeID: "reminder", NextRunAt: 5}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: memberId: is missing; give the id of a member`,
	},
	"no time": {
		test:   reminds(agenda.NewParams{MemberID: "member-1", NodeCompositeID: "reminder"}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: nextRunAt: is missing; give the time of the run, or a pattern`,
	},
	"a pattern without runUntil": {
		test: reminds(agenda.NewParams{MemberID: "member-1", NodeCompositeID: "reminder", Pattern: "0 9 * * 1"}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: runUntil: ` +
			`is missing; give the last instant at which the pattern may run`,
	},
	"runUntil in seconds": {
		test: reminds(agenda.NewParams{MemberID: "member-1", NodeCompositeID: "reminder", Pattern: "0 9 * * 1", RunUntil: 1_800_000_000}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: pattern: first fires at 2026-01-05T09:00:00Z, ` +
			`which is after runUntil, 1970-01-21T20:00:00Z: no run is left; give a later runUntil, in milliseconds`,
	},
	"a pattern of six fields": {
		test: reminds(agenda.NewParams{MemberID: "member-1", NodeCompositeID: "reminder", Pattern: "0 30 9 * * 1", RunUntil: 1 << 42}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: pattern: "30" is not one of the hours; ` +
			`hours go from 0 to 23; six fields begin with minutes and end with years; to begin with seconds, give seven`,
	},
	"a time zone that is none": {
		test: reminds(agenda.NewParams{
			MemberID: "member-1", NodeCompositeID: "reminder", Pattern: agenda.InZone("Berlin", "0 9 * * 1"), RunUntil: 1 << 42,
		}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: pattern: "Berlin" is not in the time-zone database; ` +
			`give a name such as "Europe/London"; if the machine has no database, import time/tzdata into the program: unknown time zone Berlin`,
	},
	"replace without a tag": {
		test: reminds(agenda.NewParams{MemberID: "member-1", NodeCompositeID: "reminder", NextRunAt: 5, Replace: true}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): newAgenda: invalid argument: tag: ` +
			`is missing: replace removes the agendas of one tag, so give the tag`,
	},
	"Advance forgotten": {
		test: func(p *fakes.Platform) {
			reminds(agenda.NewParams{
				MemberID: "member-1", NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(p.Now().Add(time.Hour)),
			})(p)
		},
		prints: `fakes: nothing was sent to Ada yet; an agenda waits until 2026-01-01T01:00:00Z to run the node reminder: Advance moves the time`,
	},
}

var mistakesOfPlatforms = map[string]mistake{
	"AddChannel forgotten": {
		test:   func(p *fakes.Platform) { p.AddMember(member.Member{Channel: "web"}) },
		prints: `fakes: AddMember: there is no channel "web" in app-1: add it with AddChannel first`,
	},
	"the same id on the platform twice": {
		test: func(p *fakes.Platform) {
			p.AddMember(member.Member{ExternalID: "ada"})
			p.AddMember(member.Member{ExternalID: "ada"})
		},
		prints: `fakes: AddMember: already exists: there is a member with the _id member-2 already, ` +
			`or with the externalId ada in the channel channel-1: give each member its own`,
	},
	"a type of channel in capitals": {
		test: func(p *fakes.Platform) {
			p.Handle(&botctx.Node{ID: "hi", Trigger: botctx.AnyText(), Responses: botctx.Say("Hello!")})
			p.AddChannel(channel.Channel{ID: "page", Type: "Alpha"})
			p.AddMember(member.Member{Channel: "page", FirstName: "Ada"}).Says("hi")
		},
		prints: `fakes: Ada sent TEXT: node hi: response 1: sendResponse: unsupported: channel page has type "Alpha", ` +
			`for which this host has no connector; add one to Config.Connectors; did you mean "alpha"?`,
	},
	"an operation of another platform": {
		test: call("alphaSaveCustomLabel", `{"labelId": "vip"}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): alphaSaveCustomLabel: unsupported: channel: ` +
			`the channel channel-1 is of type "webchat"; this operation supports only channels of type alpha`,
	},
	"AddAccount forgotten": {
		test: call("golf", `{"golfName": "shop"}`),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): golf: not found: golfName: ` +
			`there is no payment account "shop": AddAccount adds one`,
	},
	"ReplyHTTP forgotten": {
		test: onHi(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.Fetch(ctx, outbound.Request{URL: "https://weather.example/today"})
			return err
		}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): fetch: unavailable: ` +
			`no reply is registered for "GET https://weather.example/today": add one; registered are: none`,
	},
	"Pair forgotten": {
		test: onHi(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
			return err
		}),
		prints: `fakes: Ada sent TEXT: HandleFunc (the bot): createAssignment: failed precondition: ` +
			`no channel is paired with the inlet channel-1: pair one with it, or give targets`,
	},
	"a ticket that nobody sent": {
		test: func(p *fakes.Platform) {
			p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
			p.AddAgent("desk", "Grace", "support").Ticket()
		},
		prints: `fakes: Grace has no open ticket: createAssignment sends tickets to broadcast groups, and the agent is in ["support"]`,
	},
	"two faults for one call": {
		test: func(p *fakes.Platform) {
			p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello")) })
			p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
			p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
			_ = p.AddMember(member.Member{FirstName: "Ada"}).TrySays("hi")
		},
		prints: `fakes: nothing met the fault of mistakes_test.go, sendResponse fails with Unavailable: ` +
			`make the call that it is for, Lift it, or call Optional on it`,
	},
	"a host without a store": {
		test: func(p *fakes.Platform) {
			p.HandleFunc(nil)
			if _, err := botctx.New(botctx.Config{}); err != nil {
				panic(err)
			}
		},
		prints: `invalid argument: Store: a Runtime needs a store, such as memstore.New()`,
	},
}

// Parts of the output that differ between versions of this file: virtual times at the beginning of lines,
// Go's names for anonymous functions, and line numbers.
var (
	virtualTime = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}`)
	funcName    = regexp.MustCompile(`fakes_test\.[\w.]*func\d[\w.]*`)
	lineNumber  = regexp.MustCompile(`mistakes_test\.go:\d+`)
)

// printed returns the lines that the failing test prints.
func (m mistake) printed() []string {
	var tb recordedTB
	func() {
		defer func() {
			if thrown := recover(); thrown != nil {
				tb.failures = append(tb.failures, display.Text(thrown))
			}
		}()
		tb.run(m.test)
	}()
	text := strings.Join(append(tb.failures, tb.logged...), "\n")
	text = virtualTime.ReplaceAllString(text, "")
	text = lineNumber.ReplaceAllString(funcName.ReplaceAllString(text, "the bot"), "mistakes_test.go")
	return strings.Split(text, "\n")
}

func TestMistakes_SayWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, table := range []map[string]mistake{mistakesOfNodes, mistakesOfData, mistakesOfAgendas, mistakesOfPlatforms} {
		for name, made := range table {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				lines := made.printed()
				require.Contains(t, lines, made.prints, "all that is printed:\n%s", strings.Join(lines, "\n"))
			})
		}
	}
}

func TestChannels_Misuse(t *testing.T) {
	t.Parallel()
	kettle := fakes.Attachment{Channel: "page", ID: "7", Type: send.TypeImage, URL: "https://shop.example/kettle.png"}
	for name, misuse := range map[string]func(p *fakes.Platform, ada *fakes.Actor){
		`there is no channel "nowhere" in app-1`: func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Limits("nowhere", 1, time.Second)) },
		`Limits of 0 messages`:                   func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Limits("page", 0, time.Second)) },
		`messages in 0s`:                         func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Limits("page", 1, 0)) },
		`Limits needs a channel`:                 func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Limits("", 1, time.Second)) },
		`there is no channel "lift"`:             func(p *fakes.Platform, _ *fakes.Actor) { p.Lift(fakes.Limits("lift", 1, time.Second)) },
		`Refuses needs a recipient`:              func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Refuses("", boterr.NotFound)) },
		`or an id and with Of its channel; got`:  func(p *fakes.Platform, _ *fakes.Actor) { p.Lift(fakes.Refuses("C1", nil).Of("")) },
		`"gone" is not a mail address`:           func(p *fakes.Platform, _ *fakes.Actor) { p.Lift(fakes.Refuses("gone", nil)) },
		`page needs an error to fail with`:       func(p *fakes.Platform, ada *fakes.Actor) { p.Inject(fakes.Refuses(ada, nil)) },
		`there is no code "Gone"`:                func(p *fakes.Platform, ada *fakes.Actor) { p.Inject(fakes.Refuses(ada, boterr.Code("Gone"))) },
		`there is no channel "refuse"`:           func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Refuses("1", boterr.NotFound).Of("refuse")) },
		`there is no channel "accept"`:           func(p *fakes.Platform, _ *fakes.Actor) { p.Lift(fakes.Refuses("1", nil).Of("accept")) },
		`there is no channel "off"`:              func(p *fakes.Platform, _ *fakes.Actor) { p.Inject(fakes.Down(fakes.ServiceMessages).Of("off")) },
		`there is no channel "on"`:               func(p *fakes.Platform, _ *fakes.Actor) { p.Lift(fakes.Down(fakes.ServiceMessages).Of("on")) },
		`AddAttachment: give an id`:              func(p *fakes.Platform, _ *fakes.Actor) { p.AddAttachment(fakes.Attachment{Channel: "page"}) },
		`has a file 7 already`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.AddAttachment(kettle)
			p.AddAttachment(kettle)
		},
		`there is nothing to give back`:                             func(_ *fakes.Platform, ada *fakes.Actor) { ada.ReturnThread() },
		`only channels of type echo have tags`:                      func(_ *fakes.Platform, ada *fakes.Actor) { ada.Tags() },
		`only channels of type alpha have attachments`:              func(p *fakes.Platform, _ *fakes.Actor) { p.Attachments("web") },
		`only channels of type alpha have broadcasts`:               func(p *fakes.Platform, _ *fakes.Actor) { p.Broadcasts("web") },
		`only channels of type alpha have stored messages`:          func(p *fakes.Platform, _ *fakes.Actor) { p.StoredMessages("web") },
		`only channels of type charlie have archived conversations`: func(p *fakes.Platform, _ *fakes.Actor) { p.IsArchived("web", "C1") },
		`there is no channel gone in app`:                           func(p *fakes.Platform, _ *fakes.Actor) { p.IsArchived("gone", "C1") },
		`has no conversation "C1"`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.IsArchived(p.AddChannel(channel.Channel{Type: channel.Charlie}).ID, "C1")
		},
		`only channels of type alpha have labels`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.AddMember(member.Member{Channel: "web"}).Labels()
		},
		`only channels of type alpha have threads`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.AddMember(member.Member{Channel: "web"}).Thread()
		},
	} {
		requireFailure(t, name, func(p *fakes.Platform) {
			page := p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
			p.AddChannel(channel.Channel{ID: "web"})
			misuse(p, p.AddMember(member.Member{Channel: page.ID, FirstName: "Ada"}))
		})
	}
}

// typed is a message in which a member tries to read a field of their record that no bot shows.
const typed = "{{meta.creditScore}}"

// secretive returns a member whose record has the field and whose messages go to logic.
func secretive(t *testing.T, logic botctx.Action) *fakes.Actor {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(logic)
	return p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("creditScore", 711)})
}

// The bots put a member's text into their messages. A placeholder in it must stay as typed.
func TestMembersWords_AreNoTemplates(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(ctx context.Context, bot *botctx.Context, words string) error{
		"reply": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.Text(words))
		},
		"several replies": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.Template("{{firstName}}"), send.Text(words))
		},
		"sendResponse": func(ctx context.Context, bot *botctx.Context, words string) error {
			_, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text(words)})
			return err
		},
		"an operation by name over JSON": func(ctx context.Context, bot *botctx.Context, words string) error {
			_, err := botctx.FromCaller(bot).SendResponse(ctx, send.SendResponseParams{Response: send.Text(words)})
			return err
		},
		"a response that was stored as JSON": func(ctx context.Context, bot *botctx.Context, words string) error {
			stored, err := document.EncodeJSON(send.Text(words))
			if err != nil {
				return err
			}
			var response send.Response
			if err := document.DecodeJSON(stored, &response); err != nil {
				return err
			}
			return bot.Reply(ctx, response)
		},
		"the event as a response": func(ctx context.Context, bot *botctx.Context, _ string) error {
			return bot.Reply(ctx, bot.MessageEvent.Response())
		},
		"a field of the member that fills a template": func(ctx context.Context, bot *botctx.Context, words string) error {
			bot.Member.FirstName = words
			return bot.Reply(ctx, send.Template("{{firstName}}"))
		},
		"quick replies": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.QuickReplies(words, send.QuickReply{Title: "Yes", Payload: words}))
		},
		"a button": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.Buttons(words, send.Postback("Yes", words)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ada := secretive(t, func(ctx context.Context, bot *botctx.Context) error {
				return say(ctx, bot, bot.MessageEvent.Text())
			})
			ada.Says(typed)
			require.Equal(t, typed, ada.Last())
			require.NotContains(t, ada.LastMessage().String(), "711")
		})
	}
}

// A member and an agent type placeholders, which the bot puts into the ticket, its summary and the conversation's
// name. They must stay as typed.
func TestMembersWords_AreNoTemplatesInALiveChat(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "web", Type: channel.Webchat})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "counter", Type: "public_channel"}}},
	}})
	p.Pair("web", "desk")
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		words := bot.MessageEvent.Text()
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
			Summary: words, GroupName: words,
			RelayMessage: map[channel.Type]send.Response{channel.Charlie: send.Buttons(words, send.Postback("Take", livechat.TakePayload))},
		}})
		return err
	})
	ada := p.AddMember(member.Member{Channel: "web", FirstName: "Ada", Meta: document.O("creditScore", 711)})
	grace := p.AddAgent("desk", "Grace")

	ada.Says(typed)
	require.Equal(t, typed, grace.Ticket().Text())
	grace.Takes(grace.Ticket())
	require.Equal(t, typed, grace.Last(), "the summary")
	ada.Says("and " + typed)
	require.Equal(t, "and "+typed, grace.Last())
	grace.Says("you mean " + typed)
	require.Equal(t, "you mean "+typed, ada.Last())
	for _, sent := range p.Sent() {
		require.NotContains(t, sent.Response.String(), "711")
	}
}
