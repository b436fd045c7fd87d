package botctxtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var agendaRunRules = []Rule{
	rule(aDueAgendaRunsItsNode,
		"an agenda runs its node for its member when it is due, once, with its meta as AgendaMeta", handleNodes, moveClock),
	rule(aCompletedAgendaStaysAsItIs, "updateAgenda does not change an agenda that has run for the last time", handleNodes, moveClock),
	rule(dueAgendasRunByPriority,
		"if several agendas are due at the same time, the smallest priority runs first, and then the oldest",
		handleNodes, moveClock),
	rule(aPatternRunsUntilItsEnd,
		"an agenda with a pattern runs each time that it fires, up to and including runUntil", handleNodes, moveClock),
	rule(withoutRunUntilAPatternRunsOnce,
		"an agenda with nextRunAt, a pattern and no runUntil runs once, at nextRunAt", handleNodes, moveClock),
	rule(whatIsDeletedOrReplacedDoesNotRun,
		"a deleted or replaced agenda does not run, and an updated one runs with its new values", handleNodes, moveClock),
	rule(aRunThatIsTriedAgainSendsUnderTheSameIDs,
		"a run that is tried again sends corresponding messages with the same ids, and different messages with different ids",
		handleNodes, moveClock, tellIDs),
}

// noting adds a node that writes its AgendaMeta and its member to a journal. It returns the id of the node.
func (t *trial) noting(into *journal) string {
	t.Helper()
	node := unique("node")
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
		into.add(bot.AgendaMeta.String() + " " + bot.Member.ID)
		return nil
	}}})
	return node
}

// in returns the current time, taken from a new member, plus a pause.
func (t *trial) in(pause time.Duration) document.Timestamp {
	t.Helper()
	return t.neighbour(member.Member{}).CreatedAt + document.Timestamp(pause/time.Millisecond)
}

func aDueAgendaRunsItsNode(t *trial) {
	var ran journal
	node := t.noting(&ran)
	m := t.neighbour(member.Member{})
	for _, meta := range []document.Object{document.O("$n", "{{firstName}}"), {}} {
		t.schedule(agenda.NewParams{MemberID: m.ID, NodeCompositeID: node, NextRunAt: t.in(time.Hour), Meta: meta})
		t.Advance(59 * time.Minute)
		require.Empty(t, ran.read(), "before it is due")
		t.Advance(2 * time.Minute)
		if meta.IsZero() {
			meta = document.O()
		}
		require.Equal(t, []string{meta.String() + " " + m.ID}, ran.read())
		t.Advance(48 * time.Hour)
		require.Empty(t, ran.read(), "it runs once")
		t.requireOpen(m)
	}
}

func aCompletedAgendaStaysAsItIs(t *trial) {
	var ran journal
	node := t.noting(&ran)
	t.schedule(agenda.NewParams{NodeCompositeID: node, NextRunAt: t.in(time.Minute), Tag: "tag"})
	t.Advance(time.Hour)
	require.Len(t, ran.read(), 1)
	for _, replace := range []bool{false, true} {
		result := t.reschedule(agenda.UpdateParams{Tag: "tag", Replace: replace, NextRunAt: t.in(time.Minute)})
		require.Empty(t, result.Docs)
		t.Advance(time.Hour)
		require.Empty(t, ran.read())
	}
}

func dueAgendasRunByPriority(t *trial) {
	var ran journal
	node := t.noting(&ran)
	at := t.in(time.Hour)
	for _, one := range []struct {
		name     string
		priority *int64
	}{{"last", new(int64(9))}, {"second", nil}, {"first", new(int64(-1))}, {"third", new(int64(0))}, {"fourth", new(int64(8))}} {
		t.schedule(agenda.NewParams{
			NodeCompositeID: node, NextRunAt: at, Priority: one.priority, Meta: document.O("name", one.name),
		})
	}
	t.Advance(2 * time.Hour)
	names := []string{}
	for _, name := range []string{"first", "second", "third", "fourth", "last"} {
		names = append(names, document.O("name", name).String()+" "+t.home.scope.Member)
	}
	require.Equal(t, names, ran.read())
}

func aPatternRunsUntilItsEnd(t *trial) {
	var ran journal
	node := t.noting(&ran)
	first := t.schedule(agenda.NewParams{NodeCompositeID: node, Pattern: eachMinute, RunUntil: later, Tag: "tag"})
	end := first.NextRunAt + document.Timestamp(4*time.Minute/time.Millisecond)
	t.reschedule(agenda.UpdateParams{Tag: "tag", RunUntil: end})
	for range 12 {
		t.Advance(time.Minute)
	}
	require.Len(t, ran.read(), 5, "the last run is four minutes after the first")
	t.requireOpen(t.home.member)
}

func withoutRunUntilAPatternRunsOnce(t *trial) {
	var ran journal
	node := t.noting(&ran)
	t.schedule(agenda.NewParams{NodeCompositeID: node, Pattern: eachMinute, NextRunAt: t.in(time.Hour)})
	t.Advance(30 * time.Minute)
	require.Empty(t, ran.read(), "nextRunAt overrides the pattern")
	for range 8 {
		t.Advance(10 * time.Minute)
	}
	require.Len(t, ran.read(), 1)
	t.requireOpen(t.home.member)
}

func whatIsDeletedOrReplacedDoesNotRun(t *trial) {
	var ran journal
	node := t.noting(&ran)
	at := t.in(time.Hour)
	plan := func(name, tag string, replace bool) {
		t.schedule(agenda.NewParams{
			NodeCompositeID: node, NextRunAt: at, Meta: document.O("name", name), Tag: tag, Replace: replace,
		})
	}
	plan("deleted", "a", false)
	plan("replaced", "b", false)
	plan("replacing", "b", true)
	plan("updated", "c", false)
	t.unschedule(t.home.scope.Member, "a")
	t.reschedule(agenda.UpdateParams{Tag: "c", Meta: document.O("name", "new")})
	t.Advance(2 * time.Hour)
	require.Equal(t, []string{
		`{"name":"replacing"} ` + t.home.scope.Member, `{"name":"new"} ` + t.home.scope.Member,
	}, ran.read())
}

// sayingAgain adds a node that sends the given texts in each attempt and fails in all attempts except the last. It returns
// the id of the node.
func (t *trial) sayingAgain(attempts ...[]string) string {
	t.Helper()
	node, made := unique("node"), 0
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		says := attempts[min(made, len(attempts)-1)]
		made++
		for _, text := range says {
			if err := bot.Reply(ctx, send.Text(text)); err != nil {
				return err
			}
		}
		if made < len(attempts) {
			return errors.New("this attempt fails")
		}
		return nil
	}}})
	return node
}

func aRunThatIsTriedAgainSendsUnderTheSameIDs(t *trial) {
	m := t.neighbour(member.Member{})
	node := t.sayingAgain([]string{"a", "b", "b"}, []string{"b", "c", "b"})
	t.schedule(agenda.NewParams{MemberID: m.ID, NodeCompositeID: node, NextRunAt: t.in(time.Minute)})
	t.Advance(48 * time.Hour) // Longer than all pauses after failures together.
	var ids []string
	for _, sent := range t.Sent() {
		if sent.To == m.ExternalID {
			require.NotEmpty(t, sent.ID)
			ids = append(ids, sent.ID)
		}
	}
	require.Len(t, ids, 6, "it is tried again once")
	require.Equal(t, ids[:3], ids[3:], "corresponding messages of two attempts must have the same ids")
	distinct := map[string]bool{}
	for _, id := range ids {
		distinct[id] = true
	}
	require.Len(t, distinct, 3, "two messages of a run must not have the same id")
}

// sendingTo sends a text to members with one operation, and returns the result.
type sendingTo func(ctx context.Context, on botctx.Operations, to ...*member.Member) (any, error)

// unsubscribedRules returns a rule for each operation that sends to members.
func unsubscribedRules() []Rule {
	hello := send.Text("Hello")
	return []Rule{
		unsubscribedRule(botctx.OpSendResponse, nil, func(ctx context.Context, on botctx.Operations, to ...*member.Member) (any, error) {
			return on.SendResponse(ctx, send.SendResponseParams{MemberID: memberIDs(to), Response: hello})
		}),
		unsubscribedRule(botctx.OpSendAlphaResponse, []channel.Type{channel.Alpha},
			func(ctx context.Context, on botctx.Operations, to ...*member.Member) (any, error) {
				return on.SendAlphaResponse(ctx, alphaParams{Member: to[0], Response: hello})
			}),
		unsubscribedRule(botctx.OpSendAlphaResponseToMemberIDs, []channel.Type{channel.Alpha},
			func(ctx context.Context, on botctx.Operations, to ...*member.Member) (any, error) {
				return on.SendAlphaResponseToMemberIDs(ctx, alphasParams{MemberID: memberIDs(to), Response: hello})
			}),
		unsubscribedRule(botctx.OpSendHotelResponse, []channel.Type{channel.Hotel},
			func(ctx context.Context, on botctx.Operations, to ...*member.Member) (any, error) {
				return on.SendHotelResponse(ctx, hotelParams{RecipientID: to[0].ExternalID, Response: hello})
			}),
		unsubscribedRule(botctx.OpSendDeltaResponse, []channel.Type{channel.Delta},
			func(ctx context.Context, on botctx.Operations, to ...*member.Member) (any, error) {
				return on.SendDeltaResponse(ctx, deltaParams{MemberID: memberIDs(to), Response: hello})
			}, Batches),
	}
}

func memberIDs(members []*member.Member) document.OneOrMany[string] {
	ids := document.OneOrMany[string]{}
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	return ids
}

// unsubscribedRule returns the rule for an operation that sends on some platforms, or on all if platforms is nil.
func unsubscribedRule(op botctx.Op, platforms []channel.Type, sendTo sendingTo, needs ...Capability) Rule {
	needs = append(needs, Agendas, Members, handleNodes, moveClock, readSent)
	for _, platform := range platforms {
		needs = append(needs, On(platform))
	}
	return Rule{
		Name:  strings.ToUpper(string(op[:1])) + string(op[1:]) + "LeavesOutTheUnsubscribed",
		Text:  "in the run of an agenda, a member whose botMeta.subscribe is false gets nothing; the call succeeds, with an empty result",
		Needs: needs,
		check: func(t *trial) {
			p := t.home
			if platforms != nil {
				p = t.on(platforms[0])
			}
			leavesOutTheUnsubscribed(t, p, op, sendTo)
		},
	}
}

func leavesOutTheUnsubscribed(t *trial, p *place, op botctx.Op, sendTo sendingTo) {
	var unsubscribed member.Member
	unsubscribed.BotMeta.Set("subscribe", false)
	bob, eve := t.another(p, unsubscribed), t.another(p, member.Member{})
	calls := [][]*member.Member{{bob}, {eve}}
	if takeOne := []botctx.Op{botctx.OpSendAlphaResponse, botctx.OpSendHotelResponse}; !slices.Contains(takeOne, op) {
		calls = append(calls, []*member.Member{bob, eve})
	}
	var results []any
	node := unique("node")
	t.Handle(&botctx.Node{ID: node, Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
		for _, recipients := range calls {
			result, err := sendTo(ctx, bot, recipients...)
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return nil
	})})
	must(t, p.NewAgenda, agenda.NewParams{MemberID: bob.ID, NodeCompositeID: node, NextRunAt: t.in(time.Minute)})
	before := len(t.Sent())
	t.Advance(time.Hour)
	require.Len(t, results, len(calls), "the calls must succeed")
	require.NotContains(t, textOf(t, results[0]), "Hello", "the result must be empty")
	t.requireArrived(before, slicesOf(len(calls)-1, to(eve, send.Text("Hello")))...)
	require.NoError(t, errorOf(sendTo(t.Context(), p, bob)))
	require.Equal(t, bob.ExternalID, t.Sent()[len(t.Sent())-1].To, "other runs send to the member")
}
