package botctxtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// source is the data source that rules work with.
const source = "things"

// trial is one check of one rule, in two apps that are new.
type trial struct {
	T
	*Harness

	rule Rule
	// home is the app in which the rule calls operations, away another app.
	home, away *place
	// added are the members that there are, own the operations for some of them.
	added []*member.Member
	own   map[record.Scope]botctx.Operations
}

// place is an app with one channel and one member in it, and the operations for them.
type place struct {
	botctx.Operations

	scope   record.Scope
	channel *channel.Channel
	member  *member.Member
	// node is an id for a node that nobody has used before.
	node string
	// chat is the live chat of the member, zero unless it was begun.
	chat chat
	// url is an address at which there is a file, for the operations that ask for one.
	url string
	// platforms are places of the same app in channels on platforms, and scenes those of scenes,
	// made when they are asked for.
	platforms map[channel.Type]*place
	scenes    map[*scene]*place
	// prepared is what operations on platforms work on.
	prepared prepared
}

func newTrial(t T, rule Rule, h *Harness) *trial {
	t.Helper()
	tr := &trial{T: t, Harness: h, rule: rule, own: map[record.Scope]botctx.Operations{}}
	tr.home = tr.newPlace("home")
	tr.away = tr.newPlace("away")
	return tr
}

// unique returns an id that nobody has used before.
func unique(prefix string) string { return prefix + "-" + rand.Text() }

// newPlace makes an app.
func (t *trial) newPlace(name string) *place {
	t.Helper()
	p := &place{scope: record.Scope{App: unique(name)}, node: unique("node")}
	p.channel = t.newChannel(p.scope.App)
	p.scope.Channel = p.channel.ID
	p.member = t.newMember(member.Member{App: p.scope.App, Channel: p.channel.ID, FirstName: "Ada"})
	p.scope.Member = p.member.ID
	p.Operations = t.Operations(p.scope)
	return p
}

// inGroup returns a place as it is where its member talks with the bot in a group.
func (t *trial) inGroup(p *place, externalID string) *place {
	t.Helper()
	other := *p
	other.scope.GroupExternalID = externalID
	other.Operations = t.Operations(other.scope)
	return &other
}

// newChannel makes a channel of a platform that can be sent to.
func (t *trial) newChannel(app string) *channel.Channel {
	t.Helper()
	return t.AddChannel(channel.Channel{App: app, Type: t.platform(), Name: "Front desk"})
}

// platform returns a type of channels that can be sent to: the last that the
// implementation does not lack, which is webchat unless that is lacked.
func (t *trial) platform() channel.Type {
	for _, platform := range slices.Backward(platforms) {
		if t.offers(On(platform)) {
			return platform
		}
	}
	return channel.Webchat
}

// newMember makes a member with an external id of its own.
func (t *trial) newMember(m member.Member) *member.Member {
	t.Helper()
	m.ExternalID = unique("external")
	stored := t.AddMember(m)
	t.added = append(t.added, stored)
	return stored
}

// neighbour makes another member of the home channel.
func (t *trial) neighbour(m member.Member) *member.Member {
	t.Helper()
	m.App, m.Channel = t.home.scope.App, t.home.scope.Channel
	return t.newMember(m)
}

// Errorf reports what was seen under the rule that it breaks.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// ctx returns the context of the test.
func (t *trial) ctx() context.Context { return t.Context() }

// try checks one case of the rule. Where it fails, the other cases are checked all the
// same.
func (t *trial) try(name string, check func(*trial)) {
	t.Helper()
	one := *t
	one.T = oneCase{T: t.T, name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { one.reportPanic(recover()) }()
		check(&one)
	}()
	<-done
}

// reportPanic reports a panic of an operation, or of a rule whose expectations it has
// upset, as a violation. cause is what recover returned.
func (t *trial) reportPanic(cause any) {
	if cause != nil {
		t.Errorf("\npanic: %v\n%s", cause, debug.Stack())
	}
}

// oneCase is one case of a rule.
type oneCase struct {
	T

	name string
}

// Errorf reports a failure under the name of the case.
func (c oneCase) Errorf(format string, args ...any) {
	c.Helper()
	rule, seen, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	c.T.Errorf("%s\n%s: %s", rule, c.name, seen)
}

// FailNow ends the case alone. The rule counts as broken, since a failure was reported
// before.
func (oneCase) FailNow() { runtime.Goexit() }

// requireCode checks that err is the error of an operation, of that code.
func (t *trial) requireCode(code boterr.Code, err error) {
	t.Helper()
	_ = t.failure(code, err)
}

// failure returns the error of an operation, which must have that code.
func (t *trial) failure(code boterr.Code, err error) *boterr.Error {
	t.Helper()
	require.Error(t, err)
	e, ok := boterr.AsError(err)
	require.True(t, ok, "the error is a %T and no *boterr.Error: %v", err, err)
	require.Equal(t, string(code), string(e.Code), "the code of: %v", err)
	require.ErrorIs(t, err, code)
	require.True(t, botctx.Op(e.Op).Exists(), "an error names its operation, and this one says %q: %v", e.Op, err)
	return e
}

// requireError checks that err is the error of that operation, of that code, about
// that parameter or a path in it.
func (t *trial) requireError(op botctx.Op, code boterr.Code, field string, err error) {
	t.Helper()
	e := t.failure(code, err)
	require.Equal(t, string(op), e.Op, "the operation of: %v", err)
	rest, found := strings.CutPrefix(e.Field, field)
	isPath := rest == "" || field != "" && strings.ContainsAny(rest[:1], ".[")
	require.True(t, found && isPath, "the field is %q, and should be %q or a path in it: %v", e.Field, field, err)
}

// badInput is a call that must be refused.
type badInput[P any] struct {
	name   string
	params P
	// field is the parameter at fault.
	field string
}

// requireRefused checks that calls are refused with InvalidArgument, the name of the
// parameter and the zero result, and that they change nothing.
func requireRefused[P, R any](
	t *trial, op botctx.Op, operation func(context.Context, P) (R, error), cases []badInput[P],
) {
	t.Helper()
	requireFails(t, op, operation, boterr.InvalidArgument, cases)
}

// requireFails checks that calls fail with a code, the name of the parameter and the zero
// result, and that they change nothing.
func requireFails[P, R any](
	t *trial, op botctx.Op, operation func(context.Context, P) (R, error), code boterr.Code, cases []badInput[P],
) {
	t.Helper()
	now := t.state()
	for _, c := range cases {
		t.try(c.name, func(t *trial) {
			result, err := operation(t.ctx(), c.params)
			before := now
			now = t.state()
			t.requireError(op, code, c.field, err)
			require.Zero(t, result, "the result beside an error")
			require.Equal(t, before, now, "a call that fails changes nothing")
		})
	}
}

// offers reports whether the implementation offers a capability.
func (t *trial) offers(c Capability) bool { return !slices.Contains(t.lacks(), c) }

// state returns everything that a rule can have changed, as text.
func (t *trial) state() string {
	t.Helper()
	var state strings.Builder
	if t.offers(Members) {
		for _, m := range t.added {
			fmt.Fprintln(&state, textOf(t, t.load(m)))
		}
	}
	if t.offers(DataSources) {
		for _, p := range []*place{t.home, t.away} {
			fmt.Fprintln(&state, t.fetch(p, datasource.FetchDataFromDataSourceParams{DataSourceID: source}))
		}
	}
	if t.offers(Agendas) {
		for _, m := range t.added {
			fmt.Fprintln(&state, textsOf(t, t.open(m)))
		}
	}
	if t.offersLiveChats() {
		for _, m := range t.added {
			fmt.Fprintln(&state, t.liveChatsOf(m))
		}
	}
	if t.Sent != nil {
		fmt.Fprintln(&state, t.Sent())
	}
	t.writeDelivered(&state)
	if t.Made != nil {
		fmt.Fprintln(&state, t.Made())
	}
	return state.String()
}

// load returns a member as it is stored now.
func (t *trial) load(m *member.Member) *member.Member {
	t.Helper()
	loaded, err := t.operationsFor(m).GetMember(t.ctx(), member.GetMemberParams{MemberID: m.ID})
	require.NoError(t, err)
	return loaded
}

// operationsFor returns the operations for a member in its own channel.
func (t *trial) operationsFor(m *member.Member) botctx.Operations {
	t.Helper()
	scope := record.Scope{App: m.App, Channel: m.Channel, Member: m.ID}
	if t.own[scope] == nil {
		t.own[scope] = t.Operations(scope)
	}
	return t.own[scope]
}

// textOf returns a value as JSON.
func textOf(t *trial, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}
