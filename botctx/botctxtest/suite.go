// Package botctxtest is a conformance suite for implementations of botctx.Operations. Each rule is a small function; if
// an implementation breaks it, the failure quotes the rule.
//
//   - To test an implementation, call [RunConformance] with a function that returns a [Harness] for it.
//   - To test its JSON calls as well, wrap that function in [FromCaller].
//   - To leave out features that it does not offer, list each [Capability] in Lacks of the [Harness].
//
// Both in one test:
//
//	func TestOperations(t *testing.T) {
//		botctxtest.RunConformance(t, newHarness)
//		botctxtest.RunConformance(t, botctxtest.FromCaller(newHarness))
//	}
//
// The name of a rule begins with its operation. The rules that all operations share, such as
// UpdateGroupRefusesBadInput, are generated from a table with a row for each operation.
package botctxtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// T is the part of *testing.T that rules need.
type T = conformance.T

// Rule is one rule of the operations.
type Rule struct {
	// Name is short, and written like the name of a test.
	Name string
	// Text is the rule in words.
	Text string
	// Needs are the capabilities that an implementation must have for the rule to apply.
	Needs []Capability

	check func(*trial)
}

// rule returns a rule that is named after its function, with Id as in the names of operations.
func rule(check func(*trial), text string, needs ...Capability) Rule {
	return Rule{Name: strings.ReplaceAll(conformance.NameOf(check), "ID", "Id"), Text: text, Needs: needs, check: check}
}

// RunConformance checks an implementation against every rule. Each rule has its own subtest with a new harness. For a
// capability that the implementation lacks, it only checks that operations return Unsupported.
func RunConformance(t *testing.T, newHarness func(t *testing.T) *Harness) {
	t.Helper()
	for _, rule := range Rules(newHarness(t).lacks()...) {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
}

// Rules returns the rules for an implementation that lacks the given capabilities: the rules that do not need them, and
// for each capability the rule that its use returns Unsupported.
func Rules(lacks ...Capability) []Rule {
	var rules []Rule
	for _, of := range []struct {
		domain Capability
		rules  []Rule
	}{
		{Channels, channelRules},
		{Members, memberRules()},
		{DataSources, dataRules()},
		{Agendas, agendaRules()},
		{Nodes, nodeRules},
		{Sends, sendRules()},
		{LiveChats, liveChatRules()},
		{Utilities, slices.Concat(mailRules, uploadRules)},
	} {
		rules = append(rules, needing([]Capability{of.domain}, of.rules)...)
	}
	rules = slices.Concat(rules, operationRules(), everyOperationRules)
	rules = slices.DeleteFunc(rules, func(rule Rule) bool { return rule.needsOneOf(lacks) })
	for _, lack := range lacks {
		if rule, ok := unsupportedRule(lack); ok && !rule.needsOneOf(lacks) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// needing adds capabilities to the needs of rules.
func needing(needed []Capability, rules []Rule) []Rule {
	all := slices.Clone(rules)
	for i, rule := range all {
		all[i].Needs = slices.Concat(needed, rule.Needs)
	}
	return all
}

func memberRules() []Rule {
	return slices.Concat(
		getMemberRules, findMemberRules, returningRules(countingMember), optionRules(countingMember),
		patchMembersRules, updateMemberRules, memberScopeRules, memberConcurrencyRules,
	)
}

func dataRules() []Rule {
	return slices.Concat(
		findDataRules, returningRules(countingData), optionRules(countingData), upsertRules, countRules, fetchRules,
		distinctRules, geoRules, patchDataRules, optionRules(countingPatch), dataScopeRules, dataConcurrencyRules,
	)
}

func sendRules() []Rule {
	return slices.Concat(
		sendResponseRules, recipientRules, platformRules(), sendAlphaRules, sendHotelRules,
		sendDeltaRules, broadcastRules, attachmentRules, threadRules, labelRules, commentRules, archiveConversationRules,
		updateMessageRules, tagRules, unsubscribedRules(),
	)
}

func (r Rule) needsOneOf(lacks []Capability) bool {
	return slices.ContainsFunc(r.Needs, func(c Capability) bool { return slices.Contains(lacks, c) })
}

// Check checks an implementation against the rule. The rule works in new apps.
func (r Rule) Check(t T, h *Harness) {
	t.Helper()
	tr := newTrial(t, r, h)
	defer tr.reportPanic()
	r.check(tr)
}

// Harness connects the suite to an implementation. Its functions must end the test if they fail.
type Harness struct {
	// Operations returns the operations for a scope. If the scope has a group, the member is in that group. The
	// platform must accept messages to groups with any id. Required.
	Operations func(scope botctx.Scope) botctx.Operations
	// AddChannel stores a channel with the given App, Type and BroadcastGroups, with On set to true and with any
	// new ID, and returns the stored channel. The platform must accept messages to the groups, and on Charlie
	// also requests to archive them. If Asked is set, a channel of type custom must have a live-chat API.
	// Required.
	AddChannel func(added channel.Channel) *channel.Channel
	// AddMember stores a member with the given fields, including Unknown, and with any new ID, and returns the
	// stored member. App, Channel and ExternalID are always given. Required.
	AddMember func(added member.Member) *member.Member

	// Sent returns the messages that arrived at the platforms, in order. A broadcast is one message for each
	// member. If Sent is nil, the rules about arriving messages are left out.
	Sent func() []Sent
	// TellsIDs is true if the results of Sent have an ID. Otherwise the rules about ids are left out.
	TellsIDs bool
	// Advance moves the clock of records forward. If it is nil, the rules about times are left out. If Handle is
	// set, Advance must also run the agendas that fall due, and try failed runs again. It does not fail if a run
	// fails.
	Advance func(by time.Duration)
	// Handle adds nodes with new ids for the members of all apps. If it is nil, the rules about nodes are left
	// out.
	Handle func(nodes ...*botctx.Node)

	// Receive handles an event from a platform, like Runtime.Receive. If it is nil, the rules about handling
	// events are left out.
	Receive func(in botctx.Inbound) error

	// Pair sets the outlets that serve the live chats of an inlet, in order, and replaces earlier outlets. All
	// channels come from AddChannel and belong to one app. If Pair or Agent is nil, the rules about live chats
	// are left out.
	Pair func(inlet *channel.Channel, outlets ...*channel.Channel)
	// Agent adds an agent with an admin record to an outlet. The outlet comes from AddChannel.
	Agent func(outlet *channel.Channel) *Agent
	// SwitchOff sets On of a channel to false. If SwitchOff is nil, the rules about such channels are left out.
	SwitchOff func(switched *channel.Channel)
	// Asked returns the requests that arrived at the live-chat APIs of custom channels, in order. Each API must
	// return the same id of a group in every response. If Asked is nil, the rules about createGroup are left out.
	Asked func() []Asked
	// Made returns the groups and channels that operations created on the platforms, oldest first, in their
	// current state. If it is nil, the rules about creating them on Bravo and Hotel are left out.
	Made func() []Made

	// Refuse makes the platform refuse all messages to a member from AddMember, as if the member had blocked the
	// bot. If it is nil, the rules about sends that fail for some recipients are left out.
	Refuse func(refused *member.Member)
	// Comments returns the stored comments on posts of an app, oldest first. If it is nil, the rules about stored
	// comments are left out.
	Comments func(app string) []*send.PostComment
	// Mails returns the mails that the mail service accepted, in order. If it is nil, the rules about mails are
	// left out.
	Mails func() []utility.Mail
	// Serve serves a file at a new address for GET and POST. If contentType is "", the responses have no
	// Content-Type. If Serve is nil, the rules about addresses are left out.
	Serve func(contentType, content string) *Served
	// Files returns the files in the object store, in any order. If Files or Serve is nil, the rules about
	// uploads are left out.
	Files func() []File
	// AddAccount adds a payment account to an app under a name. If it is nil, the rules that need an account are
	// left out.
	AddAccount func(app, name string)
	// FailStore makes the nth call of the store from now on fail with Unavailable. Calls of work in the background must
	// not count. end reports whether the call failed, and otherwise prevents the failure. If FailStore is nil, the rule
	// about failing stores is left out.
	FailStore func(nth int) (end func() (hasFailed bool))

	// ChecksEtags is true if updateMember returns Conflict for a stale etag.
	ChecksEtags bool
	// Lacks are the capabilities that the implementation does not offer. Operations that need them must return
	// Unsupported.
	Lacks []Capability
}

// Sent is a message that arrived at a platform.
type Sent struct {
	// ID is the id of the send.Message. It is needed only with Harness.TellsIDs.
	ID string
	// Channel is the id of the channel through which it was sent.
	Channel string
	// To is the platform's id of the recipient.
	To string
	// Response is the message as it arrived at the platform.
	Response send.Response
	// Shows is the text that the message shows after an update, or "" if it still shows Response.
	Shows string
	// IsRecalled is true if the message was recalled.
	IsRecalled bool
}

// Agent is a person who answers members in an outlet.
type Agent struct {
	// ExternalID is the id on the outlet's platform. AdminID is the id of the admin record.
	ExternalID string
	AdminID    string
	// Take makes the agent take a request that was offered in the outlet. It returns an error if the agent does
	// not get the request. Concurrent calls for several agents must work.
	Take func(assignmentID string) error
}

// Asked is a request that arrived at the live-chat API of a custom channel.
type Asked struct {
	// Channel is the id of the channel.
	Channel string
	// Body is the body of the request.
	Body document.Object
}

// Served is a file at an address.
type Served struct {
	// URL is the address.
	URL string
	// Requests returns the requests that arrived at the address, in order.
	Requests func() []Request
}

// Request is a request that arrived at the address of a Served.
type Request struct {
	Method string
	Header http.Header
	Body   string
}

// File is a file in the object store.
type File struct {
	// App and Channel own the file. Name is its name.
	App     string
	Channel string
	Name    string
	// ContentType is its media type.
	ContentType string
	// Content is the whole file.
	Content []byte
}

// lacks returns the capabilities in Lacks, and the capabilities whose functions are missing in the harness.
func (h *Harness) lacks() []Capability {
	lacks := slices.Clone(h.Lacks)
	for _, verb := range []struct {
		capability Capability
		isGiven    bool
	}{
		{readSent, h.Sent != nil},
		{tellIDs, h.Sent != nil && h.TellsIDs},
		{moveClock, h.Advance != nil},
		{handleNodes, h.Handle != nil},
		{receiveEvents, h.Receive != nil},
		{pairOutlets, h.Pair != nil},
		{addAgents, h.Agent != nil},
		{switchOff, h.SwitchOff != nil},
		{readAsked, h.Asked != nil},
		{refuseSends, h.Refuse != nil},
		{readComments, h.Comments != nil},
		{readMails, h.Mails != nil},
		{readFiles, h.Files != nil && h.Serve != nil},
		{addAccounts, h.AddAccount != nil},
		{readMade, h.Made != nil},
		{serveFiles, h.Serve != nil},
		{failStore, h.FailStore != nil},
	} {
		if !verb.isGiven {
			lacks = append(lacks, verb.capability)
		}
	}
	for _, kind := range []struct {
		capability Capability
		platforms  []channel.Type
	}{
		{commonShape, commonlyShaped()}, {tickets, ticketing}, {recalledTickets, recalling}, {noTickets, ticketless()},
	} {
		if !slices.ContainsFunc(kind.platforms, func(platform channel.Type) bool { return !slices.Contains(lacks, On(platform)) }) {
			lacks = append(lacks, kind.capability)
		}
	}
	return lacks
}

// FromCaller returns a function for RunConformance that tests the JSON calls of an implementation. The operations of
// newHarness must implement botctx.Caller, as *botctx.Context does.
func FromCaller(newHarness func(t *testing.T) *Harness) func(t *testing.T) *Harness {
	return func(t *testing.T) *Harness {
		t.Helper()
		over := *newHarness(t)
		direct := over.Operations
		over.Operations = func(scope botctx.Scope) botctx.Operations {
			operations := direct(scope)
			caller, ok := operations.(botctx.Caller)
			if !ok {
				t.Fatalf("botctxtest: Harness.Operations returned a %T, which FromCaller cannot call: it must be a botctx.Caller", operations)
			}
			return botctx.FromCaller(caller)
		}
		return &over
	}
}

// Made is a group or a channel that an operation created on a platform.
type Made struct {
	// Channel is the id of the channel through which it was created.
	Channel string
	// ExternalID is the id on the platform.
	ExternalID string
	// Name is the visible name.
	Name string
	// Within is the platform's id of the object that contains it, such as a team, or "".
	Within string
	// InvitationLink is the current address with which agents join, or "" if there is none.
	InvitationLink string
	// Icon is the content of the picture, or "" if there is none.
	Icon string
}

// source is the id of the data source in the rules.
const source = "things"

// trial is one check of a rule. It has two new apps. Its methods that are named after an operation, such as patchMembers,
// call the operation and end the rule if it fails.
type trial struct {
	T
	*Harness

	rule Rule
	// home is the app in which the rule calls operations. away is another app, to which they must have no access.
	home, away *place
	// added are the members that the trial added. own caches operations by scope.
	added []*member.Member
	own   map[botctx.Scope]botctx.Operations
}

type place struct {
	botctx.Operations

	scope   botctx.Scope
	channel *channel.Channel
	member  *member.Member
	// node is a new id for a node.
	node string
	// chat is the live chat of the member, or zero if there is none.
	chat chat
	// url is the address of a file, for operations that need one. It is "" before the first use.
	url string
	// platforms are places in the same app on other platforms. scenes are places in the same app with a scene. The
	// elements are created on first use.
	platforms map[channel.Type]*place
	scenes    map[*scene]*place
	// prepared holds objects on platforms that operations need.
	prepared prepared
}

func newTrial(t T, rule Rule, h *Harness) *trial {
	t.Helper()
	tr := &trial{T: t, Harness: h, rule: rule, own: map[botctx.Scope]botctx.Operations{}}
	tr.home = tr.newPlace("home")
	tr.away = tr.newPlace("away")
	return tr
}

func unique(prefix string) string { return prefix + "-" + rand.Text() }

// newPlace creates an app with a channel and a member.
func (t *trial) newPlace(name string) *place {
	t.Helper()
	p := &place{scope: botctx.Scope{App: unique(name)}, node: unique("node")}
	p.channel = t.newChannel(p.scope.App)
	p.scope.Channel = p.channel.ID
	p.member = t.newMember(member.Member{App: p.scope.App, Channel: p.channel.ID, FirstName: "Ada"})
	p.scope.Member = p.member.ID
	p.Operations = t.Operations(p.scope)
	return p
}

// inGroup returns a copy of the place in which the member talks to the bot in a group.
func (t *trial) inGroup(p *place, externalID string) *place {
	t.Helper()
	other := *p
	other.scope.GroupExternalID = externalID
	other.Operations = t.Operations(other.scope)
	return &other
}

// newChannel adds a channel on a platform on which messages can be sent.
func (t *trial) newChannel(app string) *channel.Channel {
	t.Helper()
	return t.AddChannel(channel.Channel{App: app, Type: t.platform(), Name: "Front desk"})
}

// platform returns a type of channels for which messages can be sent: the last one that the implementation
// supports, normally webchat.
func (t *trial) platform() channel.Type {
	for _, platform := range slices.Backward(platforms) {
		if t.offers(On(platform)) {
			return platform
		}
	}
	return channel.Webchat
}

// newMember adds a member with a new external id.
func (t *trial) newMember(m member.Member) *member.Member {
	t.Helper()
	m.ExternalID = unique("external")
	stored := t.AddMember(m)
	t.added = append(t.added, stored)
	return stored
}

// neighbour adds a member to the channel of home.
func (t *trial) neighbour(m member.Member) *member.Member {
	t.Helper()
	m.App, m.Channel = t.home.scope.App, t.home.scope.Channel
	return t.newMember(m)
}

// Errorf reports a failure with the text of the rule.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// try checks one case of the rule. If the case fails, the rule continues with the next case.
func (t *trial) try(name string, check func(*trial)) {
	t.Helper()
	one := *t
	one.T = oneCase{T: t.T, name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer one.reportPanic()
		check(&one)
	}()
	<-done
}

// reportPanic recovers from a panic of an operation or of the rule itself, and reports it as a failure. Defer it.
func (t *trial) reportPanic() {
	if cause := recover(); cause != nil {
		t.Errorf("\npanic: %v\n%s", cause, debug.Stack())
	}
}

type oneCase struct {
	T

	name string
}

// Errorf reports a failure with the name of the case.
func (c oneCase) Errorf(format string, args ...any) {
	c.Helper()
	rule, seen, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	c.T.Errorf("%s\n%s: %s", rule, c.name, seen)
}

// FailNow ends only the case. The rule fails nevertheless, because Errorf was called before.
func (oneCase) FailNow() { runtime.Goexit() }

// requireCode checks that err is an error of an operation with the given code.
func (t *trial) requireCode(code boterr.Code, err error) {
	t.Helper()
	_ = t.failure(code, err)
}

// must calls an operation, which must succeed.
func must[P, R any](t *trial, operation func(context.Context, P) (R, error), params P) R {
	t.Helper()
	result, err := operation(t.Context(), params)
	require.NoError(t, err)
	return result
}

// failure checks that err is an error of an operation with the given code, and returns it.
func (t *trial) failure(code boterr.Code, err error) *boterr.Error {
	t.Helper()
	require.Error(t, err)
	e, ok := boterr.AsError(err)
	require.True(t, ok, "the error is a %T; it must be or wrap a *boterr.Error: %v", err, err)
	require.Equal(t, string(code), string(e.Code), "the code of: %v", err)
	require.ErrorIs(t, err, code)
	require.True(t, botctx.Op(e.Op).Exists(), "Op of the error is %q; it must be the name of an operation: %v", e.Op, err)
	return e
}

// requireError checks the operation and the code of an error. Its field must be the given one or a path in it.
func (t *trial) requireError(op botctx.Op, code boterr.Code, field string, err error) {
	t.Helper()
	e := t.failure(code, err)
	require.Equal(t, string(op), e.Op, "the operation of: %v", err)
	rest, found := strings.CutPrefix(e.Field, field)
	isPath := rest == "" || field != "" && strings.ContainsAny(rest[:1], ".[")
	require.True(t, found && isPath, "Field of the error is %q; it must be %q or a path in it: %v", e.Field, field, err)
}

// badInput is a call that must fail.
type badInput[P any] struct {
	name   string
	params P
	// field is the parameter at fault.
	field string
}

// requireRefused checks that each call returns InvalidArgument, by the rules of requireFails.
func requireRefused[P, R any](
	t *trial, op botctx.Op, operation func(context.Context, P) (R, error), cases []badInput[P],
) {
	t.Helper()
	requireFails(t, op, operation, boterr.InvalidArgument, cases)
}

// requireFails checks that each call returns an error with the code and the field, returns the zero result, and changes
// nothing.
func requireFails[P, R any](
	t *trial, op botctx.Op, operation func(context.Context, P) (R, error), code boterr.Code, cases []badInput[P],
) {
	t.Helper()
	now := t.state()
	for _, c := range cases {
		t.try(c.name, func(t *trial) {
			result, err := operation(t.Context(), c.params)
			before := now
			now = t.state()
			t.requireError(op, code, c.field, err)
			require.Zero(t, result, "the result of a failed call")
			require.Equal(t, before, now, "a call that fails changes nothing")
		})
	}
}

func (t *trial) offers(c Capability) bool { return !slices.Contains(t.lacks(), c) }

// state returns everything that operations can change in the trial, as text.
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
			fmt.Fprintln(&state, t.fetch(p, datasource.FetchParams{DataSourceID: source}))
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

func (t *trial) load(m *member.Member) *member.Member {
	t.Helper()
	loaded, err := t.operationsFor(m).GetMember(t.Context(), member.GetParams{MemberID: m.ID})
	require.NoError(t, err)
	return loaded
}

// operationsFor returns the operations in the scope of a member.
func (t *trial) operationsFor(m *member.Member) botctx.Operations {
	t.Helper()
	scope := botctx.Scope{App: m.App, Channel: m.Channel, Member: m.ID}
	if t.own[scope] == nil {
		t.own[scope] = t.Operations(scope)
	}
	return t.own[scope]
}

func textOf(t *trial, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}
