package fakes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// trees are nodes of two trees, each with a menu.
func trees() []*botctx.Node {
	return []*botctx.Node{
		{ID: "menu", Tree: "shop", Trigger: botctx.TextIs("shop"), Responses: botctx.Say("The shop."), SavesPosition: true},
		{ID: "size", Tree: "shop", Parent: "menu", Trigger: botctx.TextIs("kettle"), Responses: botctx.Say("Which size?"), SavesPosition: true},
		{ID: "large", Tree: "shop", Parent: "size", Trigger: botctx.TextIs("large"), Responses: []send.Response{
			send.Template("A large one for {{meta.name}}."),
		}},
		{ID: "menu", Tree: "help", Trigger: botctx.TextIs("help"), Responses: botctx.Say("How can I help?"), SavesPosition: true},
		{ID: "hours", Tree: "help", Parent: "menu", Trigger: botctx.TextIs("hours"), Responses: botctx.Say("From 9 to 5.")},
		{ID: "reminder", Tree: "help", Responses: botctx.Say("Still there?")},
		{ID: "outside", Tree: "help", Entry: true},
	}
}

func TestSetPosition_ItsChildrenAnswerNext(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(trees()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	bob := p.AddMember(member.Member{FirstName: "Bob"})
	ada.SetPosition("size")
	ada.Patch(document.Set("meta.name", "Ada L."))
	ada.Says("large")
	ada.Sees("A large one for Ada L..")
	bob.SetPositionIn("help", "menu")
	bob.Says("hours")
	bob.Sees("From 9 to 5.")
	bob.SetPosition("outside")
	require.Equal(t, "outside", bob.Member().BotMeta.NodeCompositeID())
	require.Empty(t, p.Calls(botctx.OpPatchMembers), "what a test sets up is no call of the bot's")
}

func TestPatch_PatchWithoutModifiersSetsItsFields(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Patch(document.O("firstName", "Eve", "customLocale", "nb"))
	ada.Says("hi")
	require.Equal(t, "Hello Eve, you said: hi", ada.Last(), "she is the same member")
	require.Equal(t, "nb", ada.Member().CustomLocale)
}

func TestStart_EndsTheTestWhereItCannotBegin(t *testing.T) {
	t.Parallel()
	begin := func(p *fakes.Platform) *fakes.Actor {
		p.Handle(trees()...)
		return p.AddMember(member.Member{FirstName: "Ada"})
	}
	for prints, misuse := range map[string]func(p *fakes.Platform){
		`fakes: there is no node "sise": did you mean "size"?`:                                   func(p *fakes.Platform) { begin(p).SetPosition("sise") },
		`fakes: there is no node "size": the platform handles none. Give Handle the nodes first`: func(p *fakes.Platform) { p.AddMember(member.Member{}).SetPosition("size") },
		`fakes: several trees have a node "menu": "shop", "help". Name the tree`:                 func(p *fakes.Platform) { begin(p).SetPosition("menu") },
		`fakes: there is no node "hour": did you mean "hours"?`:                                  func(p *fakes.Platform) { begin(p).SetPositionIn("help", "hour") },
		`fakes: the node large (tree shop) is never a position: it does not save the position. Set SavesPosition, or Entry where an action sets the position there`: func(p *fakes.Platform) {
			begin(p).SetPosition("large")
		},
		`fakes: the patch of Ada with {"$set":{"channel":"other"}}: invalid argument: patch.channel: the field is fixed and cannot be changed`: func(p *fakes.Platform) { begin(p).Patch(document.Set("channel", "other")) },
		`fakes: there is no node "remindr": did you mean "reminder"?`: func(p *fakes.Platform) {
			begin(p).AddAgenda(agenda.NewParams{NodeCompositeID: "remindr", NextRunAt: document.TimestampOf(fakes.Start())})
		},
		`fakes: the agenda of Ada: invalid argument: nextRunAt: is missing; give the time of the run, or a pattern`: func(p *fakes.Platform) {
			begin(p).AddAgenda(agenda.NewParams{NodeCompositeID: "reminder"})
		},
		`fakes: Ada already has the assignment id-1: end it first, or do without a new one`: func(p *fakes.Platform) {
			ada, _ := desk(p)
			ada.AddAssignment(livechat.CreateAssignmentParams{})
			ada.AddAssignment(livechat.CreateAssignmentParams{})
		},
		`fakes: Linus cannot take the request of Ada: failed precondition: assignmentId: Grace (U000001) already has the assignment id-1, since 00:00:00 UTC`: func(p *fakes.Platform) {
			ada, grace := desk(p)
			grace.AddConversation(ada)
			p.AddAgent("desk", "Linus").AddConversation(ada)
		},
	} {
		var tb recordedTB
		tb.run(misuse)
		require.Equal(t, []string{prints}, tb.failures)
	}
}

func TestAddAgenda_RunsWhenItIsDue(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(trees()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	made := ada.AddAgenda(agenda.NewParams{
		NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(fakes.Start().Add(time.Hour)), Tag: "reminder",
	})
	require.Equal(t, "help", made.Tree)
	require.Len(t, ada.Agendas(), 1)
	p.Advance(time.Hour - 1)
	ada.SeesNothing()
	p.Advance(1)
	ada.Sees("Still there?")
	require.Empty(t, p.Calls(botctx.OpNewAgenda))
}

func TestAddAgenda_PatternInTheMembersZone(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Zone = func(context.Context, *member.Member) (string, error) { return "Asia/Tokyo", nil }
	}))
	p.Handle(trees()...)
	ada := p.AddMember(member.Member{})
	daily := agenda.NewParams{NodeCompositeID: "reminder", Pattern: "0 9 * * *", RunUntil: document.TimestampOf(fakes.Start().Add(48 * time.Hour))}
	added := ada.AddAgenda(daily)
	daily.MemberID = ada.ID()
	made, err := ada.Context().NewAgenda(t.Context(), daily)
	require.NoError(t, err)
	require.Equal(t, made.NextRunAt, added.NextRunAt)
}

func TestAddAgenda_NodeOfTheMembersTree(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(append(trees(), &botctx.Node{ID: "menu", Entry: true}, &botctx.Node{ID: "outside", Entry: true})...)
	ada := p.AddMember(member.Member{})
	require.Empty(t, ada.AddAgenda(agenda.NewParams{NodeCompositeID: "menu", NextRunAt: 1}).Tree)
	ada.SetPositionIn("shop", "menu")
	require.Equal(t, "shop", ada.AddAgenda(agenda.NewParams{NodeCompositeID: "menu", NextRunAt: 1}).Tree)
}

func TestAddAssignment_IsPendingUntilAnAgentTakesIt(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("the bot")) })
	ada, grace := desk(p)
	made := ada.AddAssignment(livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "It leaks."},
	})
	require.Equal(t, []*livechat.Assignment{made}, pendingIn(p))
	grace.Takes(grace.Ticket())
	ada.Reads()
	grace.Reads()
	ada.Says("Help!")
	grace.Sees("Help!")
	require.Empty(t, p.Calls())
}

// pendingIn returns the requests waiting at the desk.
func pendingIn(p *fakes.Platform) (all []*livechat.Assignment) {
	for _, one := range p.Queue("desk") {
		all = append(all, &one.Assignment)
	}
	return all
}

func TestAddConversation_BeginsAmidALiveChat(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("the bot")) })
	ada, grace := desk(p)
	p.AddChannel(channel.Channel{ID: "other"})
	grace.AddConversation(ada)
	ada.SeesNothing()
	grace.SeesNothing()
	ada.Says("Help!")
	grace.Sees("Help!")
	grace.Says("Where?")
	ada.Sees("Where?")
	grace.Ends()
	ada.Reads()
	grace.Reads()
	ada.Says("hi")
	ada.Sees("the bot")
}

func TestAddConversation_TakesTheRequestThatIsThere(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada, grace := desk(p)
	made := ada.AddAssignment(livechat.CreateAssignmentParams{})
	grace.AddConversation(ada)
	taken, err := ada.Context().GetAssignment(t.Context(), livechat.GetAssignmentParams{AssignmentID: made.ID})
	require.NoError(t, err)
	require.Equal(t, grace.ExternalID(), taken.Assignee)
}

// terminalText contains every kind of control: characters that affect a terminal and ones that change the
// direction of text.
const terminalText = "hi\x1b[2J\x1b]0;pwned\x07\u009b31m\x7f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2028\u2029\r\xff\U000e0041bye"

// echoHostile is a bot that repeats and stores a member's text.
func echoHostile(ctx context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("said", bot.MessageEvent.Text())
	return bot.Reply(ctx, send.Text(bot.MessageEvent.Text()))
}

// rawHandler writes log lines unescaped, as some handlers do.
type rawHandler struct {
	mu   *sync.Mutex
	text *strings.Builder
}

func (rawHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h rawHandler) Handle(_ context.Context, line slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.WriteString(line.Message)
	line.Attrs(func(one slog.Attr) bool {
		fmt.Fprintf(h.text, " %s=%v", one.Key, one.Value)
		return true
	})
	h.text.WriteByte('\n')
	return nil
}

func (h rawHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	fmt.Fprintln(h.text, attributes)
	return h
}

func (h rawHandler) WithGroup(name string) slog.Handler {
	fmt.Fprintln(h.text, name)
	return h
}

// logHostile logs, through a handler, a run that fails with the member's text in its error.
func logHostile(t *testing.T, handler slog.Handler) {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Logger = slog.New(handler)
		c.Interceptors = append(c.Interceptors, botctx.Logged(c.Logger))
	}))
	p.Runtime().HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set(bot.MessageEvent.Text(), 1)
		if _, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.MessageEvent.Text()}); err == nil {
			return errors.New("there is such a member")
		}
		panic(bot.MessageEvent.Text())
	})
	err := p.AddMember(member.Member{FirstName: terminalText, ExternalID: terminalText}).TrySays(terminalText)
	require.Error(t, err)
	requireVisible(t, display.Text(err))
}

// requireVisible fails if a text contains characters that Visible escapes.
func requireVisible(t *testing.T, text string) {
	t.Helper()
	require.Equal(t, display.Visible(text), text)
}

// printed returns what a test prints that a function ends as failed.
func printed(test func(tb fakes.TB)) string {
	var tb recordedTB
	tb.end(func() { test(&tb) })
	return strings.Join(append(tb.failures, tb.logged...), "\n")
}

// TestHostileText sends text that affects a terminal through every output that may reach one.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]func(t *testing.T) string{
		"an error": func(*testing.T) string {
			return boterr.Wrap("getMember", boterr.Invalid("meta."+terminalText, "%s", terminalText)).Error()
		},
		"the error of an operation": func(t *testing.T) string {
			t.Helper()
			p := fakes.New(fakes.For(t))
			_, err := p.AddMember(member.Member{}).Context().GetMember(t.Context(), member.GetParams{MemberID: terminalText})
			require.Error(t, err)
			return err.Error()
		},
		"a log that escapes nothing": func(t *testing.T) string {
			t.Helper()
			var text strings.Builder
			logHostile(t, rawHandler{&sync.Mutex{}, &text})
			return text.String()
		},
		"a log as text": func(t *testing.T) string {
			t.Helper()
			var text bytes.Buffer
			logHostile(t, slog.NewTextHandler(&text, nil))
			return text.String()
		},
		"a log as JSON": func(t *testing.T) string {
			t.Helper()
			var text bytes.Buffer
			logHostile(t, slog.NewJSONHandler(&text, nil))
			return text.String()
		},
		"a transcript": func(t *testing.T) string {
			t.Helper()
			p := fakes.New(fakes.For(t))
			p.Runtime().HandleFunc(echoHostile)
			ada := p.AddMember(member.Member{FirstName: terminalText})
			before := p.Snapshot()
			ada.Says(terminalText)
			return p.Transcript() + p.Since(before).String() + fmt.Sprint(p.Calls())
		},
		"an expectation that fails": func(t *testing.T) string {
			t.Helper()
			return printed(func(f fakes.TB) {
				p := fakes.New(fakes.For(f))
				p.Runtime().HandleFunc(echoHostile)
				ada := p.AddMember(member.Member{FirstName: terminalText})
				ada.Says(terminalText)
				ada.Sees("hello " + terminalText)
			})
		},
		"a run that fails": func(t *testing.T) string {
			t.Helper()
			return printed(func(f fakes.TB) {
				p := fakes.New(fakes.For(f))
				p.Runtime().HandleFunc(func(context.Context, *botctx.Context) error { return errors.New(terminalText) })
				p.AddMember(member.Member{FirstName: terminalText}).Says(terminalText)
			})
		},
		"a conversation": func(t *testing.T) string {
			t.Helper()
			p := fakes.New(fakes.For(t))
			p.Runtime().HandleFunc(echoHostile)
			stage := conversation.NewSession(p)
			for _, act := range []conversation.Act{conversation.AddMember{Name: terminalText}, conversation.Says{By: terminalText, Text: terminalText}} {
				_, err := stage.Do(act)
				require.NoError(t, err)
			}
			return stage.Conversation().String()
		},
		"a property that does not hold": func(t *testing.T) string {
			t.Helper()
			return printed(func(f fakes.TB) {
				explore.Faults(f, 1, func(e *explore.T, p *fakes.Platform) {
					ada := p.AddMember(member.Member{FirstName: terminalText})
					_ = ada.TrySays(terminalText)
					e.Fatalf("%s", terminalText)
				})
			})
		},
		"a document": func(t *testing.T) string {
			t.Helper()
			return display.Text(document.O(terminalText, terminalText))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := output(t)
			requireVisible(t, text)
			require.Contains(t, text, "bye")
		})
	}
}

// handedOut returns one value of each kind that platforms and actors return to tests.
func handedOut(t *testing.T) map[string]any {
	t.Helper()
	ctx := t.Context()
	p, ada := bookedBy(t)
	grace := p.AddAgent("desk", "Grace")
	_, err := ada.Context().SavePostCommentAnalytics(ctx, send.SavePostCommentAnalyticsParams{Comment: "Nice", FbID: "u-1", Name: "Ada", PostID: "post-1"})
	require.NoError(t, err)
	assignments, err := ada.Context().GetAssignmentsByMemberID(ctx, livechat.GetAssignmentsByMemberIDParams{MemberID: ada.ID()})
	require.NoError(t, err)
	queue := p.Queue("desk")
	grace.Takes(grace.Ticket())
	return map[string]any{
		"Actor.Agendas": ada.Agendas(), "Actor.Member": ada.Member(), "Actor.Messages": ada.Messages(), "Agent.Messages": grace.Messages(),
		"Agent.Tickets": grace.Tickets(), "Agent.Taps": ada.Tappables(), "Platform.Queue": queue, "Platform.PostComments": p.PostComments(),
		"Platform.Mails": p.Mails(), "Platform.Files": p.Files(), "Account.Payments": p.Account("shop").Payments(),
		"Platform.Sent": p.Sent(), "Platform.Calls": p.Calls(botctx.OpNewAgenda, botctx.OpCreateAssignment), "Platform.Choices": p.Choices(),
		"Platform.Groups": p.Groups("desk"), "Platform.Since": p.Since(fakes.New().Snapshot()), "Platform.Planned": p.Planned(), "Platform.Unmet": p.Unmet(),
		"GetAssignmentsByMemberID": assignments,
	}
}

// Printed values are readable in a test failure: without memory addresses, bytes or numeric times.
func TestShown_IsReadable(t *testing.T) {
	t.Parallel()
	unreadable := regexp.MustCompile(`0x[0-9a-f]{4,}|\b17672\d{8}\b( [^/]|[^ ])|\[\d+ \d+ \d+ \d+`)
	for name, of := range handedOut(t) {
		for _, verb := range []string{"%v", "%+v", "%#v"} { // require.Empty and Len use the first verb, Equal and Contains the last.
			require.NotRegexp(t, unreadable, fmt.Sprintf(verb, of), "%s by %s", name, verb)
		}
	}
}

// Data belongs to the bot and is printed exactly.
func TestShown_Data(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("visits", document.O("at", 1767225600000))
	require.Contains(t, fmt.Sprint(p.Data("visits")), `"at":1767225600000`)
	require.Contains(t, fmt.Sprintf("%#v", p.Data("visits")), `"at":1767225600000`)
}

// A single line of a failure identifies the agenda.
func TestShown_Agendas(t *testing.T) {
	t.Parallel()
	_, ada := bookedBy(t)
	test := &failingTest{}
	require.Empty(test, ada.Agendas())
	require.Contains(t, test.text, `"nodeCompositeId":"reminder","nextRunAt":"2026-01-02T00:00:00.000Z"`)
	require.NotContains(t, test.text, "hush", "credentials are redacted")
}

type failingTest struct{ text string }

func (f *failingTest) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

func (f *failingTest) FailNow() {}
