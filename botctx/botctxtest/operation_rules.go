package botctxtest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
)

// operationRules are the rules that follow from the table of operations and from that of the
// specification: those that all operations with such parameters have in common.
func operationRules() []Rule {
	var rules []Rule
	for _, o := range table() {
		rules = append(rules, needing(o.capabilities(), slices.Concat(o.rules(), o.own))...)
	}
	return rules
}

func (o operation) rules() []Rule {
	rules := []Rule{{
		Name:  o.name() + "AnswersAsDocumented",
		Text:  "the JSON of the result has the keys and types that the specification shows, and says that something was done",
		check: o.answersAsDocumented,
	}, {
		Name:  o.name() + "RefusesBadInput",
		Text:  "what is missing, of another type, no value or contradicts itself is InvalidArgument with the parameter, and changes nothing",
		check: o.refusesBadInput,
	}}
	for _, rule := range []struct {
		applies bool
		Rule
	}{
		{o.findsRecords(), Rule{
			Name:  o.name() + "FindsNoOthers",
			Text:  "what does not exist, or is of another app, is NotFound with the parameter, whatever records say, and nothing changes",
			check: o.findsNoOthers,
		}},
		{len(o.ofContext()) > 0, Rule{
			Name:  o.name() + "TakesTheContextsOwn",
			Text:  "channel and member are the context's own where no other is given",
			check: o.takesTheContextsOwn,
		}},
		{len(o.ofContext()) > 0 || len(o.records()) > 0, Rule{
			Name:  o.name() + "TakesRecordsAsAddresses",
			Text:  "what is given by id or record takes the place of the context's own, and of a record only the _id counts",
			check: o.takesRecordsAsAddresses,
		}},
		{o.isForPlatforms(), Rule{
			Name:  o.name() + "RefusesOtherPlatforms",
			Text:  "a channel of another platform is Unsupported with an error that names the platforms allowed, and nothing changes",
			check: o.refusesOtherPlatforms,
		}},
		{o.isForPlatforms() && o.has("member", "memberId"), Rule{
			Name:  o.name() + "NeedsAnExternalID",
			Text:  "a member whom the platform does not know is FailedPrecondition, and nothing changes",
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

// has reports whether the operation has one of the parameters.
func (o operation) has(parameters ...string) bool {
	return slices.ContainsFunc(parameters, func(one string) bool {
		_, has := o.specified().Parameter(one)
		return has
	})
}

// parameters returns those of the operation's parameters that are meant.
func (o operation) parameters(isMeant func(operations.Field) bool) []operations.Field {
	return slices.DeleteFunc(slices.Clone(o.specified().Parameters), func(p operations.Field) bool { return !isMeant(p) })
}

// ofContext returns the parameters that the context has where they are not given.
func (o operation) ofContext() []operations.Field {
	return o.parameters(func(p operations.Field) bool { return p.Need == operations.FromContext })
}

// records returns the parameters that are records of the app, of which only the _id counts.
func (o operation) records() []operations.Field {
	return o.parameters(isRecord)
}

// isRecord reports whether a parameter is a record of the app.
func isRecord(p operations.Field) bool {
	return slices.Contains([]string{"channel", "member", "group", "assignment"}, p.Kind)
}

// findsRecords reports whether there are ids or records in the parameters that must be found.
func (o operation) findsRecords() bool {
	return len(o.ofContext()) > 0 || len(o.records()) > 0 || len(o.names) > 0 || o.findsNot != nil
}

// isForPlatforms reports whether the channel of a call must be of certain platforms.
func (o operation) isForPlatforms() bool {
	return len(o.specified().Platforms) > 0 && o.has("channel", "channelId")
}

// takesText reports whether a parameter may be a text.
func takesText(p operations.Field) bool {
	return slices.Contains(p.Type.Alternatives(), operations.Type("string"))
}

// record returns the record of a place for which a parameter stands.
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

// recordOf returns the record of a place for which a parameter of the context stands.
func recordOf(parameter operations.Field) operations.Field {
	if strings.HasPrefix(parameter.Name, "member") {
		parameter.Kind = "member"
	}
	return parameter
}

// changing calls the operation with changed input, in other operations than those of the place
// where they are given.
func (o operation) changing(ctx context.Context, p *place, with document.Object) (any, error) {
	return o.call.with(ctx, p.Operations, o.op, changed(o.input(p), with))
}

// requireAllRefused checks that calls with changed input fail with a code and the name of the
// parameter, and that all of them together change nothing.
func (o operation) requireAllRefused(t *trial, p *place, code boterr.Code, changes []change) {
	t.Helper()
	before := t.state()
	for _, c := range changes {
		t.try(c.name, func(t *trial) {
			result, err := o.changing(t.ctx(), p, c.with)
			if !errors.Is(err, errUnheld) {
				o.requireRefusal(t, code, c.field, result, err)
			}
		})
	}
	require.Equal(t, before, t.state(), "calls that fail change nothing")
}

// requireRefusal checks that a call failed with a code, about one of several parameters with "|"
// between, and gave nothing.
func (o operation) requireRefusal(t *trial, code boterr.Code, fields string, result any, err error) {
	t.Helper()
	named := t.failure(code, err).Field
	for field := range strings.SplitSeq(fields, "|") {
		rest, found := strings.CutPrefix(named, field)
		if found && (rest == "" || field != "" && strings.ContainsAny(rest[:1], ".[")) {
			t.requireError(o.op, code, field, err)
			require.Zero(t, result, "the result beside an error")
			return
		}
	}
	require.Fail(t, "another field", "the field is %q, and should be %q or a path in it: %v", named, fields, err)
}

func (o operation) refusesBadInput(t *trial) {
	p := o.in(t, t.home)
	changes := slices.Concat(o.missing(), o.mistyped(), o.contradicting(t, p))
	if o.refuses != nil {
		changes = append(changes, o.refuses(t, p)...)
	}
	o.requireAllRefused(t, p, boterr.InvalidArgument, changes)
	o.refusesToGuess(t, p)
	o.refusesWhatIsNoValue(t, p)
	require.NoError(t, o.try(t.ctx(), p), "good input, after all that")
}

// either is the name of a parameter, and behind a bar that of the other that it may stand for.
func either(p operations.Field) string { return strings.TrimSuffix(p.Name+"|"+p.Other, "|") }

// missing are calls without a parameter that they need.
func (o operation) missing() []change {
	var changes []change
	for _, p := range o.specified().Parameters {
		switch p.Need { //nolint:exhaustive // The others may be absent.
		case operations.Required:
			changes = append(changes, change{"no " + p.Name, document.O(p.Name, nil), p.Name})
		case operations.RequiredUnless:
			changes = append(changes, change{
				"neither " + p.Name + " nor " + p.Other, document.O(p.Name, nil, p.Other, nil), either(p),
			})
		}
	}
	return changes
}

// mistyped are calls with a parameter of another JSON type, and with records that are no address.
func (o operation) mistyped() []change {
	var changes []change
	for _, p := range o.specified().Parameters {
		if wrong := wrongFor(p.Type); wrong != nil {
			changes = append(changes, change{"a " + p.Name + " of another type", document.O(p.Name, wrong), p.Name})
		}
		if isRecord(p) {
			changes = append(changes, change{"a " + p.Name + " without _id", document.O(p.Name, document.O("name", "x")), p.Name})
		}
	}
	return changes
}

// wrongFor returns a value that is of none of the types, nil for none.
func wrongFor(types operations.Type) any {
	for _, wrong := range []any{document.O("wrong", true), true} {
		if !slices.ContainsFunc(types.Alternatives(), func(one operations.Type) bool {
			return one == "any" || string(one) == map[bool]string{true: "boolean", false: "object"}[wrong == any(true)]
		}) {
			return wrong
		}
	}
	return nil
}

// contradicting are calls in which two parameters name different things.
func (o operation) contradicting(t *trial, p *place) []change {
	t.Helper()
	var changes []change
	var other *place
	for _, one := range o.specified().Parameters {
		switch {
		case one.Exclusive && one.Name == "collectionName":
			changes = append(changes, change{"two names", document.O(one.Name, unique("other")), one.Name})
		case one.Need == operations.FromContext && one.Other != "" && takesText(one):
			if other == nil {
				other = t.newPlaceOn(p.scope.App, p.channel.Type)
			}
			record, _ := o.specified().Parameter(one.Other)
			id := document.Get(other.record(t, record), "_id", "")
			changes = append(changes, change{
				one.Other + " and " + one.Name, document.O(one.Other, p.record(t, record), one.Name, id), one.Name,
			})
		}
	}
	return changes
}

// refusesToGuess checks that what the context does not have must be given.
func (o operation) refusesToGuess(t *trial, p *place) {
	if len(o.ofContext()) == 0 {
		return
	}
	names := []string{}
	for _, one := range o.ofContext() {
		names = append(names, one.Name)
	}
	t.try("in a context without channel and member", func(t *trial) {
		result, err := o.call.with(t.ctx(), t.withoutScope(p), o.op, o.input(p))
		o.requireRefusal(t, boterr.InvalidArgument, strings.Join(names, "|"), result, err)
	})
}

// refusesWhatIsNoValue checks each parameter that can hold what is no value.
func (o operation) refusesWhatIsNoValue(t *trial, p *place) {
	for _, one := range o.specified().Parameters {
		t.try("a "+one.Name+" of what is no value", func(t *trial) {
			result, err := o.call.spoiled(t.ctx(), p.Operations, o.input(p), one.Name)
			if !errors.Is(err, errUnheld) {
				o.requireRefusal(t, boterr.InvalidArgument, one.Name, result, err)
			}
		})
	}
}

func (o operation) findsNoOthers(t *trial) {
	p, far := o.in(t, t.home), o.in(t, t.away)
	var changes []change
	for _, path := range o.names {
		changes = append(changes, o.strangers(p, far, path)...)
	}
	for _, one := range o.ofContext() {
		if takesText(one) {
			changes = append(changes, o.strangersByID(t, one, far)...)
		}
	}
	for _, one := range o.records() {
		changes = append(changes, strangersByRecord(t, one, p, far)...)
	}
	if o.findsNot != nil {
		changes = append(changes, o.findsNot(t, p)...)
	}
	o.requireAllRefused(t, p, boterr.NotFound, changes)
}

// strangers are calls with the id of nobody, and with that of the other app, at a path.
func (o operation) strangers(p, far *place, path string) []change {
	parameter, _, _ := strings.Cut(path, ".")
	at := func(id any) document.Object {
		input := o.input(p)
		input.Set(path, id)
		return document.O(parameter, input.Value(parameter))
	}
	changes := []change{{path + " of nobody", at(unique("nobody")), parameter}}
	if theirs, _ := o.input(far).Lookup(path); theirs != nil {
		changes = append(changes, change{path + " of another app", at(theirs), parameter})
	}
	return changes
}

// strangersByID are calls with an id in the place of what the context has.
func (o operation) strangersByID(t *trial, one operations.Field, far *place) []change {
	t.Helper()
	field := one.Name
	if o.lookedFor != "" {
		field = o.lookedFor
	}
	return []change{
		{one.Name + " of nobody", document.O(one.Name, unique("nobody")), field},
		{one.Name + " of another app", document.O(one.Name, far.record(t, recordOf(one)).Value("_id")), field},
	}
}

// strangersByRecord are calls with a record of nobody and of the other app, and with one that says
// that it is of this app.
func strangersByRecord(t *trial, one operations.Field, p, far *place) []change {
	t.Helper()
	theirs := far.record(t, one)
	var changes []change
	for name, given := range map[string]document.Object{
		"a " + one.Name + " of nobody":      document.O("_id", unique("nobody")),
		"a " + one.Name + " of another app": theirs,
		"a forged " + one.Name:              p.record(t, one).With("_id", theirs.Value("_id")),
	} {
		with := document.O(one.Name, given)
		if one.Other != "" {
			with = with.With(one.Other, nil)
		}
		changes = append(changes, change{name, with, one.Name})
	}
	return changes
}

// requireOwn checks that what a call sent and made went through the channel of a place, and to its
// member.
func (o operation) requireOwn(t *trial, p *place, call func() error) {
	t.Helper()
	sent, made, before := len(t.sentIfKnown()), len(t.madeIfKnown()), t.state()
	require.NoError(t, call())
	if isLookUp := strings.HasPrefix(string(o.op), "get"); o.domain == LiveChats && !isLookUp && t.Sent != nil && t.Made != nil {
		require.NotEqual(t, before, t.state(), "the call has an effect")
	}
	for _, one := range t.sentIfKnown()[sent:] {
		if o.domain == Sends {
			require.Equal(t, []string{p.channel.ID, p.member.ExternalID}, []string{one.Channel, one.To})
		}
	}
	for _, one := range t.madeIfKnown()[made:] {
		require.Equal(t, p.channel.ID, one.Channel)
	}
}

// sentIfKnown returns what has arrived, nothing where the harness does not know.
func (t *trial) sentIfKnown() []Sent {
	if t.Sent == nil {
		return nil
	}
	return t.Sent()
}

// madeIfKnown returns what was made, nothing where the harness does not know.
func (t *trial) madeIfKnown() []Made {
	if t.Made == nil {
		return nil
	}
	return t.Made()
}

func (o operation) takesTheContextsOwn(t *trial) {
	p := o.in(t, t.home)
	o.requireOwn(t, p, func() error { return o.try(t.ctx(), p) })
}

func (o operation) takesRecordsAsAddresses(t *trial) {
	p, elsewhere := o.in(t, t.home), t.newPlaceOn(t.home.scope.App, t.platform())
	with := document.O()
	for _, one := range append(o.ofContext(), o.records()...) {
		id := p.record(t, recordOf(one)).Value("_id")
		if isRecord(one) {
			with = with.With(one.Name, document.O(
				"_id", id, "app", t.away.scope.App, "channel", "forged", "type", "forged", "name", "Forged",
				"externalId", "forged", "firstName", "Forged",
			))
		} else {
			with = with.With(one.Name, id)
		}
	}
	o.requireOwn(t, p, func() error {
		return errorOf(o.call.with(t.ctx(), elsewhere.Operations, o.op, changed(o.input(p), with)))
	})
}

func (o operation) refusesOtherPlatforms(t *trial) {
	p := o.in(t, t.home)
	allowed := o.specified().Platforms
	var others []*place
	for _, platform := range platforms {
		if !slices.Contains(allowed, string(platform)) && t.offers(On(platform)) {
			others = append(others, t.newPlaceOn(p.scope.App, platform))
		}
	}
	before := t.state()
	for _, other := range others {
		platform := string(other.channel.Type)
		t.try("a context on "+platform, func(t *trial) {
			_ = o.requireUnsupported(t, func() (any, error) { return o.call.with(t.ctx(), other.Operations, o.op, o.input(p)) })
		})
		for _, one := range o.ofContext() {
			if !strings.HasPrefix(one.Name, "channel") {
				continue
			}
			given := any(other.channel.ID)
			if isRecord(one) {
				given = other.record(t, one)
			}
			t.try("the "+one.Name+" on "+platform, func(t *trial) {
				err := o.requireUnsupported(t, func() (any, error) { return o.changing(t.ctx(), p, document.O(one.Name, given)) })
				o.requireRefusal(t, boterr.Unsupported, either(one), nil, err)
			})
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
}

// requireUnsupported checks that a call is Unsupported, names the platforms that are allowed, and
// gives nothing. It returns the error.
func (o operation) requireUnsupported(t *trial, call func() (any, error)) error {
	t.Helper()
	result, err := call()
	t.requireCode(boterr.Unsupported, err)
	for _, allowed := range o.specified().Platforms {
		require.ErrorContains(t, err, allowed, "the error names the platforms that are allowed")
	}
	require.Zero(t, result, "the result beside an error")
	return err
}

func (o operation) needsAnExternalID(t *trial) {
	p := o.in(t, t.home)
	unknown := t.beside(p, member.Member{})
	t.update("_id", unknown.ID, "externalId", "")
	before := t.state()
	for name, given := range map[string]any{"member": unknown, "memberId": unknown.ID} {
		if o.has(name) {
			t.try(name, func(t *trial) {
				t.requireCode(boterr.FailedPrecondition, errorOf(o.changing(t.ctx(), p, document.O(name, given))))
			})
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
}
