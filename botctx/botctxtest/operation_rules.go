package botctxtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/livechat"
)

// operationRules returns the rules of each row of the table: the rules that follow from its parameters, and its own.
func operationRules() []Rule {
	var rules []Rule
	for _, o := range table() {
		rules = append(rules, needing(o.capabilities(), slices.Concat(o.rules(), o.own))...)
	}
	return rules
}

func (o operation) rules() []Rule {
	rules := []Rule{{
		Name:  nameOfRules(o.op) + "AnswersAsDocumented",
		Text:  "the JSON of the result has the keys and types of the specification, and its numbers show that the call had an effect",
		check: o.answersAsDocumented,
	}, {
		Name:  nameOfRules(o.op) + "RefusesBadInput",
		Text:  "missing, mistyped, invalid and contradicting parameters are InvalidArgument with the parameter as the field, and change nothing",
		check: o.refusesBadInput,
	}}
	for _, rule := range []struct {
		applies bool
		Rule
	}{
		{o.findsRecords(), Rule{
			Name:  nameOfRules(o.op) + "FindsNoOthers",
			Text:  "ids and records that do not exist or belong to another app are NotFound with the parameter as the field, and nothing changes",
			check: o.findsNoOthers,
		}},
		{len(o.ofContext()) > 0, Rule{
			Name:  nameOfRules(o.op) + "TakesTheContextsOwn",
			Text:  "the default of the channel and the member is the context's own",
			check: o.takesTheContextsOwn,
		}},
		{len(o.ofContext()) > 0 || len(o.records()) > 0, Rule{
			Name:  nameOfRules(o.op) + "TakesRecordsAsAddresses",
			Text:  "an id or a record replaces the context's own, and only the _id of a record counts",
			check: o.takesRecordsAsAddresses,
		}},
		{o.isForPlatforms(), Rule{
			Name:  nameOfRules(o.op) + "RefusesOtherPlatforms",
			Text:  "a channel of another platform is Unsupported with an error that names the allowed platforms, and nothing changes",
			check: o.refusesOtherPlatforms,
		}},
		{o.isForPlatforms() && o.has("member", "memberId"), Rule{
			Name:  nameOfRules(o.op) + "NeedsAnExternalID",
			Text:  "a member without an external id is FailedPrecondition, and nothing changes",
			Needs: []Capability{Members},
			check: o.needsAnExternalID,
		}},
	} {
		if rule.applies {
			rules = append(rules, rule.Rule)
		}
	}
	return rules
}

func (o operation) has(parameters ...string) bool {
	return slices.ContainsFunc(parameters, func(one string) bool {
		_, has := o.specified().Parameter(one)
		return has
	})
}

// parameters returns the operation's parameters for which isMeant returns true.
func (o operation) parameters(isMeant func(operations.Field) bool) []operations.Field {
	return slices.DeleteFunc(slices.Clone(o.specified().Parameters), func(p operations.Field) bool { return !isMeant(p) })
}

// ofContext returns the parameters whose default is the context's own channel or member.
func (o operation) ofContext() []operations.Field {
	return o.parameters(func(p operations.Field) bool { return p.Need == operations.FromContext })
}

// records returns the parameters that are records of the app. Operations use only the _id of such a record.
func (o operation) records() []operations.Field {
	return o.parameters(isRecord)
}

func isRecord(p operations.Field) bool {
	return slices.Contains([]string{"channel", "member", "group", "assignment"}, p.Kind)
}

// findsRecords reports whether the parameters refer to records or objects that may not exist.
func (o operation) findsRecords() bool {
	return len(o.ofContext()) > 0 || len(o.records()) > 0 || len(o.names) > 0 || o.findsNot != nil
}

// isForPlatforms reports whether the operation has a channel parameter and supports only some types of channels.
func (o operation) isForPlatforms() bool {
	return len(o.specified().Platforms) > 0 && o.has("channel", "channelId")
}

// takesText reports whether a parameter may be a string.
func takesText(p operations.Field) bool {
	return slices.Contains(p.Type.Alternatives(), operations.Type("string"))
}

func (p *place) record(t *trial, parameter operations.Field) document.Object {
	t.Helper()
	switch parameter.Kind {
	case "member":
		return t.object(p.member)
	case "group":
		return t.object(p.group())
	case "assignment":
		return t.object(p.chat.assignment)
	}
	return t.object(p.channel)
}

// recordOf returns a parameter of ofContext with the Kind of the record that it refers to.
func recordOf(parameter operations.Field) operations.Field {
	if strings.HasPrefix(parameter.Name, "member") {
		parameter.Kind = "member"
	}
	return parameter
}

// changing calls the operation with changed input.
func (o operation) changing(ctx context.Context, p *place, with document.Object) (any, error) {
	return o.call.with(ctx, p.Operations, o.op, changed(o.input(p), with))
}

// requireAllRefused checks that calls with changed input return an error with the code and the field, and that together
// they change nothing.
func (o operation) requireAllRefused(t *trial, p *place, code boterr.Code, changes []change) {
	t.Helper()
	before := t.state()
	for _, c := range changes {
		t.try(c.name, func(t *trial) {
			result, err := o.changing(t.Context(), p, c.with)
			if !errors.Is(err, errUnheld) {
				o.requireRefusal(t, code, c.field, result, err)
			}
		})
	}
	require.Equal(t, before, t.state(), "calls that fail change nothing")
}

// requireRefusal checks that a call returned no result and an error with a code. The field of the error must be in fields,
// which "|" separates.
func (o operation) requireRefusal(t *trial, code boterr.Code, fields string, result any, err error) {
	t.Helper()
	named := t.failure(code, err).Field
	for field := range strings.SplitSeq(fields, "|") {
		rest, found := strings.CutPrefix(named, field)
		if found && (rest == "" || field != "" && strings.ContainsAny(rest[:1], ".[")) {
			t.requireError(o.op, code, field, err)
			require.Zero(t, result, "the result of a failed call")
			return
		}
	}
	require.Fail(t, "another field", "Field of the error is %q; it must be %q or a path in it: %v", named, fields, err)
}

// named is an invalid value with a name for its case.
type named struct {
	name  string
	value document.Object
}

var badFilters = []named{
	{"a filter with an unknown operator", document.O("n", document.O("$nearly", 1))},
	{"a filter with an unknown operator at the top", document.O("$nearly", document.A(document.O()))},
	{"a filter that runs code", document.O("$where", "true")},
	{"a filter with $in of no list", document.O("n", document.O("$in", 1))},
	{"a filter with $or of no list", document.O("$or", document.O("n", 1))},
	{"a filter of what is no value", document.O("n", make(chan int))},
}

var badSorts = []named{
	{"a sort by 2", document.O("n", 2)},
	{"a sort by 0", document.O("n", 0)},
	{"a sort by a word", document.O("n", "up")},
	{"a sort by true", document.O("n", true)},
	{"a sort by nothing", document.O("n", nil)},
}

// badModifiers are invalid patches with modifiers, for an entry {text: "x"} or a member.
var badModifiers = []named{
	{"an unknown modifier", document.O("$nearly", document.O("x", 1))},
	{"modifiers and fields", document.O("$set", document.O("x", 1), "y", 1)},
	{"modifiers in conflict", document.O("$set", document.O("x", 1), "$inc", document.O("x", 1))},
	{"a path and a path in it", document.Set("x", document.O(), "x.y", 1)},
	{"a modifier of no fields", document.O("$set", 1)},
	{"a path with an empty part", document.Set("x..y", 1)},
	{"another _id by a modifier", document.Set("_id", "other")},
	{"another createdAt by a modifier", document.Set("createdAt", 1)},
	{"no createdAt by a modifier", document.Unset("createdAt")},
	{"a counted createdAt", document.Inc("createdAt", 1)},
	{"a renamed createdAt", document.O("$rename", document.O("createdAt", "x"))},
	{"a modifier of what is no value", document.Set("x", make(chan int))},
}

// badFields are invalid patches of fields.
var badFields = []named{
	{"another _id", document.O("_id", "other")},
	{"another createdAt", document.O("createdAt", 1)},
	{"fields in conflict", document.O("x", document.O(), "x.y", 1)},
	{"a field with a dollar", document.O("$x", 1)},
	{"a field of what is no value", document.O("x", make(chan int))},
}

var badReplacements = []named{
	{"a replacement with another _id", document.O("_id", "other", "x", 1)},
	{"a replacement with another createdAt", document.O("createdAt", 1, "x", 1)},
}

// moves returns patches that would change a member's app, channel, _id or createdAt.
func moves(app, channel string) []named {
	return []named{
		{"another app", document.Set("app", app)},
		{"another channel", document.Set("channel", channel)},
		{"an app in the app", document.Set("app.id", app)},
		{"no app", document.Unset("app")},
		{"no channel", document.Unset("channel")},
		{"an app that is renamed", document.O("$rename", document.O("app", "was"))},
		{"another field as the app", document.O("$rename", document.O("firstName", "app"))},
		{"another field as createdAt", document.O("$rename", document.O("firstName", "createdAt"))},
		{"a list of apps", document.Push("app", app)},
		{"the smaller app", document.O("$min", document.O("app", ""))},
		{"the greater app", document.O("$max", document.O("app", "~"))},
		{"a time as the app", document.O("$currentDate", document.O("app", true))},
		{"a replacement in another app", document.O("firstName", "Eve", "app", app)},
		{"a replacement in another channel", document.O("firstName", "Eve", "channel", channel)},
	}
}

// scopeless returns filters that try to match records of another app or of all apps, with different operators.
func scopeless(app string) []document.Object {
	return []document.Object{
		document.O(),
		document.O("app", app),
		document.O("app", document.O("$ne", "")),
		document.O("app", document.O("$in", document.A(app))),
		document.O("app", document.O("$exists", true)),
		document.O("app", document.O("$regex", ".*")),
		document.O("app", document.O("$not", document.O("$eq", ""))),
		document.O("$or", document.A(document.O("app", app), document.O("app", document.O("$ne", app)))),
		document.O("$nor", document.A(document.O("app", ""))),
		document.O("$and", document.A(document.O("$or", document.A(document.O(), document.O("app", app))))),
	}
}

var adminRules = []Rule{
	rule(getAdminReadsTheAgent, "getAdmin returns the agent of that id, with the app and the id on the platform"),
	rule(getAdminByExternalIDReadsTheAgent, "getAdminByExternalId returns the agent with that id on the platform"),
}

// requireAgents checks that find returns the record of an agent, for each of two agents of the app home. Changing the
// result must not change the record.
func (t *trial) requireAgents(find func(*Agent) (*livechat.Admin, error)) {
	t.Helper()
	d := t.addDesk(t.home, t.ticketing())
	for _, agent := range []*Agent{d.agent, t.Agent(d.Channel)} {
		for range 2 {
			found, err := find(agent)
			require.NoError(t, err)
			require.NotNil(t, found)
			require.Equal(t, []string{t.home.scope.App, agent.AdminID, agent.ExternalID}, []string{found.AppID, found.AdminID, found.ExternalID})
			found.AdminID, found.ExternalID = "changed", "changed"
		}
	}
}

func getAdminReadsTheAgent(t *trial) {
	t.requireAgents(func(agent *Agent) (*livechat.Admin, error) {
		return t.home.GetAdmin(t.Context(), livechat.GetAdminParams{AdminID: agent.AdminID})
	})
}

func getAdminByExternalIDReadsTheAgent(t *trial) {
	t.requireAgents(func(agent *Agent) (*livechat.Admin, error) {
		return t.home.GetAdminByExternalID(t.Context(), livechat.GetAdminByExternalIDParams{ExternalID: agent.ExternalID})
	})
}

var channelRules = []Rule{
	rule(getChannelTellsTheApp, "getChannel returns the channel's id and that of its app, for every channel of the app"),
}

func getChannelTellsTheApp(t *trial) {
	second := t.newChannel(t.home.scope.App)
	for _, id := range []string{t.home.scope.Channel, second.ID} {
		found := must(t, t.home.GetChannel, channel.GetParams{ChannelID: id})
		require.Equal(t, &channel.Reference{ChannelID: id, AppID: t.home.scope.App}, found)
	}
}

var everyOperationRules = []Rule{
	rule(endedContextIsCanceled, "if the context ended before the call, an operation returns Canceled and changes nothing"),
	rule(passedDeadlineIsCanceled, "if the deadline passed before the call, an operation returns Canceled and changes nothing"),
	rule(operationsAreSafeForConcurrentUse, "an implementation is safe for concurrent use"),
	rule(failuresOfTheStoreAreReported, "if the store fails, an operation returns Unavailable, and can be repeated", failStore),
}

func errorOf[R any](_ R, err error) error { return err }

func endedContextIsCanceled(t *trial) {
	requireCanceled(t, func() (context.Context, context.CancelFunc) {
		ended, end := context.WithCancel(t.Context())
		end()
		return ended, end
	})
}

func passedDeadlineIsCanceled(t *trial) {
	requireCanceled(t, func() (context.Context, context.CancelFunc) {
		return context.WithDeadline(t.Context(), time.Unix(0, 0))
	})
}

// requireCanceled checks that every operation refuses a context that has ended.
func requireCanceled(t *trial, ended func() (context.Context, context.CancelFunc)) {
	t.Helper()
	offered := t.offered()
	for _, o := range offered {
		o.in(t, t.home)
	}
	before := t.state()
	for _, o := range offered {
		t.try(string(o.op), func(t *trial) {
			ctx, release := ended()
			defer release()
			t.requireError(o.op, boterr.Canceled, "", o.try(ctx, o.in(t, t.home)))
		})
	}
	require.Equal(t, before, t.state(), "calls that are canceled change nothing")
}

func operationsAreSafeForConcurrentUse(t *trial) {
	var group sync.WaitGroup
	offered := slices.DeleteFunc(t.offered(), func(o operation) bool { return o.isOnce })
	const rounds = 4
	places := make([]*place, len(offered))
	for i, o := range offered {
		places[i] = o.in(t, t.home)
	}
	failures := make([]error, rounds*len(offered))
	for i := range failures {
		one := i % len(offered)
		group.Go(func() { failures[i] = offered[one].try(t.Context(), places[one]) })
	}
	group.Wait()
	for i, err := range failures {
		require.NoError(t, err, "%s", offered[i%len(offered)].op)
	}
}

// failuresOfTheStoreAreReported makes each call of the store fail in turn. An operation that can be called only once may
// have done its work before the last call that failed.
func failuresOfTheStoreAreReported(t *trial) {
	for _, o := range t.offered() {
		t.try(string(o.op), func(t *trial) {
			p := o.in(t, t.newPlace("home"))
			for nth, hasFailed := 1, true; hasFailed; nth++ {
				end := t.FailStore(nth)
				err := o.try(t.Context(), p)
				if hasFailed = end(); hasFailed {
					t.requireCode(boterr.Unavailable, err)
				} else if !o.isOnce {
					require.NoError(t, err)
				}
			}
		})
	}
}
