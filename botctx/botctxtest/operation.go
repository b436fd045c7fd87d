package botctxtest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// operation is a row of the suite's table of operations. The rules that all operations share are generated from this row
// and the operation's row in package operations; see operation_rules.go.
type operation struct {
	op   botctx.Op
	call method
	// domain is the capability of the operation's domain. needs are other capabilities that it requires.
	domain Capability
	needs  []Capability
	// scene creates the precondition of the input, or is nil if there is none.
	scene *scene
	// input returns valid input for a place with the scene. It leaves out parameters whose default is the context's.
	input func(p *place) document.Object
	// names are the paths of ids in the input: ids of records of the app or of objects on its platforms. They do not
	// include parameters that are records or that default to the context's, because package operations lists these.
	names []string
	// lookedFor is the field of the error if nothing is found in the given channel. "" means the channel
	// parameter.
	lookedFor string
	// refuses returns changes of the input for which the operation must return InvalidArgument, in addition to
	// the changes that package operations implies. findsNot does the same for NotFound.
	refuses, findsNot func(t *trial, p *place) []change
	// own are the rules for only this operation.
	own []Rule
	// isOnce is true if the operation ends something that a second call would need.
	isOnce bool
}

// scene is a precondition that several operations share, such as a live chat.
type scene struct {
	// platform is the only possible platform, or "" for any.
	platform channel.Type
	// needs are the capabilities that an implementation must have for the scene.
	needs []Capability
	// begin creates the precondition in the app of base, and returns the place for the calls.
	begin func(t *trial, base *place) *place
}

// change is a change of valid input that the operation must refuse.
type change struct {
	name string
	// with are parameters that replace the valid ones. Null removes a parameter.
	with document.Object
	// field is the field of the error.
	field string
}

// nameOfRules returns the prefix of the names of an operation's rules.
func nameOfRules(op botctx.Op) string { return strings.ToUpper(string(op[:1])) + string(op[1:]) }

// specified returns the operation's row in package operations.
func (o operation) specified() operations.Operation {
	specified, _ := operations.ByName(string(o.op))
	return specified
}

// platform is the only platform on which the input is valid, or "" for any.
func (o operation) platform() channel.Type {
	if o.scene == nil {
		return ""
	}
	return o.scene.platform
}

// capabilities returns the capabilities that the operation requires.
func (o operation) capabilities() []Capability {
	needed := slices.Concat([]Capability{o.domain}, o.needs)
	if o.scene != nil {
		needed = append(needed, o.scene.needs...)
	}
	if platform := o.platform(); platform != "" {
		needed = append(needed, On(platform))
	}
	return needed
}

// isFor reports whether the operation must return Unsupported without c: c is its domain, one of its needs, or the only
// platform that it supports.
func (o operation) isFor(c Capability) bool {
	isLimited := len(o.specified().Platforms) == 1 || o.op == botctx.OpUpdateMessage
	return o.domain == c || slices.Contains(o.needs, c) || isLimited && o.domain == Sends && On(o.platform()) == c
}

// in returns the place with the operation's scene in the app of base. The first call creates it.
func (o operation) in(t *trial, base *place) *place {
	t.Helper()
	if o.scene == nil {
		return base
	}
	if base.scenes[o.scene] == nil {
		if base.scenes == nil {
			base.scenes = map[*scene]*place{}
		}
		base.scenes[o.scene] = o.scene.begin(t, base)
	}
	return base.scenes[o.scene]
}

// bare returns a place without the scene, for implementations that lack the capabilities of the scene.
func (o operation) bare(t *trial) *place {
	t.Helper()
	if o.platform() == "" {
		return t.home
	}
	return t.newPlaceOn(t.home.scope.App, o.platform())
}

// try calls the operation with valid input.
func (o operation) try(ctx context.Context, p *place) error {
	_, err := o.call.with(ctx, p.Operations, o.op, o.input(p))
	return err
}

// method is an operation that can be called with any parameters.
type method interface {
	// with calls the operation with parameters in their JSON form.
	with(ctx context.Context, on botctx.Operations, op botctx.Op, input document.Object) (any, error)
	// spoiled calls the operation with one parameter replaced by an object that carries an error.
	spoiled(ctx context.Context, on botctx.Operations, input document.Object, parameter string) (any, error)
}

// errUnheld means that the suite could not make a call, because neither the params struct nor JSON can hold the input.
var errUnheld = errors.New("the params cannot hold the input")

// by is a method of botctx.Operations. It implements method.
type by[P, R any] func(on botctx.Operations, ctx context.Context, params P) (R, error)

// calling converts a method expression, such as botctx.Operations.GetMember.
func calling[P, R any](m func(on botctx.Operations, ctx context.Context, params P) (R, error)) method {
	return by[P, R](m)
}

// with implements method. If the params cannot hold the input, it makes a JSON call, if on is a botctx.Caller.
func (m by[P, R]) with(ctx context.Context, on botctx.Operations, op botctx.Op, input document.Object) (any, error) {
	var params P
	unreadable := document.Decode(input, &params)
	if unreadable == nil {
		return m(on, ctx, params)
	}
	caller, ok := on.(botctx.Caller)
	if !ok {
		return nil, errUnheld
	}
	text, err := caller.Call(ctx, string(op), []byte(input.String()))
	if len(text) == 0 {
		return nil, err
	}
	return string(text), err
}

func (m by[P, R]) spoiled(ctx context.Context, on botctx.Operations, input document.Object, parameter string) (any, error) {
	var params P
	if err := document.Decode(input, &params); err != nil {
		return nil, err
	}
	field := fieldNamed(reflect.ValueOf(&params).Elem(), parameter)
	if !field.IsValid() {
		return nil, errUnheld
	}
	noValue := document.O("x", make(chan int))
	switch held := field.Addr().Interface().(type) {
	case *document.Object:
		*held = noValue
	case *document.OneOrMany[document.Object]:
		*held = document.One(noValue)
	case *[]document.Object:
		*held = []document.Object{noValue}
	case *send.Response:
		*held = send.Text("Hello").With("x", make(chan int))
	default:
		return nil, errUnheld
	}
	return m(on, ctx, params)
}

// fieldNamed returns the field of a struct that has a JSON name, or the zero Value.
func fieldNamed(params reflect.Value, name string) reflect.Value {
	for i := range params.NumField() {
		tag, _, _ := strings.Cut(params.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return params.Field(i)
		}
	}
	return reflect.Value{}
}

// changed returns input with some parameters replaced or removed.
func changed(input, with document.Object) document.Object {
	for parameter, value := range with.All() {
		if value == nil {
			input = input.Without(parameter)
		} else {
			input = input.With(parameter, value)
		}
	}
	return input
}

// table returns the operations, grouped by domain.
func table() []operation {
	return slices.Concat(
		ofDomain(Channels, channelOperations), ofDomain(Members, memberOperations), ofDomain(DataSources, dataOperations),
		ofDomain(Agendas, agendaOperations), ofDomain(Nodes, nodeOperations), ofDomain(Sends, sendOperations),
		ofDomain(LiveChats, assignmentOperations), ofDomain(LiveChats, groupOperations), ofDomain(LiveChats, relayOperations),
		ofDomain(Utilities, utilityOperations),
	)
}

func ofDomain(domain Capability, rows []operation) []operation {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].domain = domain
	}
	return rows
}

func (t *trial) offered() []operation {
	return slices.DeleteFunc(table(), func(o operation) bool {
		return slices.ContainsFunc(o.capabilities(), func(c Capability) bool { return !t.offers(c) })
	})
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
	require.NoError(t, o.try(t.Context(), p), "valid input must still succeed after the refused calls")
}

// either returns the possible fields for requireRefusal: the name of a parameter, and its alternative after "|", if any.
func either(p operations.Field) string { return strings.TrimSuffix(p.Name+"|"+p.Other, "|") }

// missing returns a change for each required parameter, which removes it.
func (o operation) missing() []change {
	var changes []change
	for _, p := range o.specified().Parameters {
		switch p.Need { //nolint:exhaustive // Parameters with other needs are optional.
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

// mistyped returns changes to a parameter with a value of another JSON type, or with a record that has no id.
func (o operation) mistyped() []change {
	var changes []change
	for _, p := range o.specified().Parameters {
		if wrong := wrongFor(p.Type); wrong != nil {
			changes = append(changes, change{"a " + p.Name + " of another type", document.O(p.Name, wrong), p.Name})
		}
		if p.NotEmpty {
			changes = append(changes, change{"an empty " + p.Name, document.O(p.Name, ""), p.Name})
		}
		if isRecord(p) {
			changes = append(changes, change{"a " + p.Name + " without _id", document.O(p.Name, document.O("name", "x")), p.Name})
		}
	}
	return changes
}

// wrongFor returns a value with none of the types, or nil if types accepts all values.
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

// contradicting returns changes after which two parameters refer to different records.
func (o operation) contradicting(t *trial, p *place) []change {
	t.Helper()
	var changes []change
	var other *place
	for _, one := range o.specified().Parameters {
		switch {
		case one.Name == "collectionName":
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

// refusesToGuess checks that a parameter of ofContext is required if the scope of the call has no such default.
func (o operation) refusesToGuess(t *trial, p *place) {
	if len(o.ofContext()) == 0 {
		return
	}
	names := []string{}
	for _, one := range o.ofContext() {
		names = append(names, one.Name)
	}
	t.try("in a context without channel and member", func(t *trial) {
		result, err := o.call.with(t.Context(), t.withoutScope(p), o.op, o.input(p))
		o.requireRefusal(t, boterr.InvalidArgument, strings.Join(names, "|"), result, err)
	})
}

// refusesWhatIsNoValue checks that the operation refuses an object that carries an error, whichever parameter it is.
func (o operation) refusesWhatIsNoValue(t *trial, p *place) {
	for _, one := range o.specified().Parameters {
		t.try("a "+one.Name+" of what is no value", func(t *trial) {
			result, err := o.call.spoiled(t.Context(), p.Operations, o.input(p), one.Name)
			if !errors.Is(err, errUnheld) {
				o.requireRefusal(t, boterr.InvalidArgument, one.Name, result, err)
			}
		})
	}
}

func (o operation) answersAsDocumented(t *trial) {
	p := o.in(t, t.home)
	result, err := o.call.with(t.Context(), p.Operations, o.op, o.input(p))
	require.NoError(t, err)
	text := textOf(t, result)
	var answer any
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	responses := o.specified().Responses
	require.True(t, slices.ContainsFunc(responses, func(r operations.Response) bool { return answers(r, answer) }),
		"the specification shows no such result: %s", text)
	switch shape := responses[0]; {
	case shape.Type == "null":
	case shape.Kind == "":
		require.False(t, holdsOneOf(answer, nil, "", false), "the numbers in the result must show an effect, got %s", text)
		fallthrough
	default:
		require.False(t, isNothing(answer), "the numbers in the result must show an effect, got %s", text)
	}
}

func answers(shape operations.Response, result any) bool {
	fields, isClosed := shape.Fields, len(shape.Fields) > 0
	if kind, ok := operations.KindNamed(shape.Kind); ok {
		fields, isClosed = kind.Fields, false
	}
	return shape.Type.Accepts(result) && hasFields(result, fields, isClosed)
}

// hasFields reports whether an object, or each object in a list, has the required fields with their types. If isClosed is
// true, it must have no other fields.
func hasFields(value any, fields []operations.Field, isClosed bool) bool {
	switch value := value.(type) {
	case []any:
		return !slices.ContainsFunc(value, func(element any) bool { return !hasFields(element, fields, isClosed) })
	case map[string]any:
		return holds(value, fields, isClosed)
	default:
		return true
	}
}

func holds(object map[string]any, fields []operations.Field, isClosed bool) bool {
	known := 0
	for _, field := range fields {
		value, has := object[field.Name]
		if !has {
			if field.Need == operations.Always {
				return false
			}
			continue
		}
		known++
		if !field.Type.Accepts(value) || !hasFields(value, field.Fields, len(field.Fields) > 0) {
			return false
		}
	}
	return !isClosed || known == len(object)
}

// holdsOneOf reports whether a field of an object has one of the values.
func holdsOneOf(result any, values ...any) bool {
	object, _ := result.(map[string]any)
	for _, value := range object {
		if slices.Contains(values, value) {
			return true
		}
	}
	return false
}

// isNothing reports whether a result is empty or an object in which all numbers are 0.
func isNothing(result any) bool {
	switch result := result.(type) {
	case []any:
		return len(result) == 0
	case map[string]any:
		for _, value := range result {
			if value != 0.0 {
				return false
			}
		}
		return true
	default:
		return slices.Contains([]any{nil, false, 0.0, ""}, result)
	}
}

// requireOwn checks that a call used only the channel of a place and sent only to its member.
func (o operation) requireOwn(t *trial, p *place, call func() error) {
	t.Helper()
	sent, made, before := len(t.sentIfKnown()), len(t.madeIfKnown()), t.state()
	require.NoError(t, call())
	if isLookUp := strings.HasPrefix(string(o.op), "get"); o.domain == LiveChats && !isLookUp && t.Sent != nil && t.Made != nil {
		require.NotEqual(t, before, t.state(), "the call must have an effect")
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

// sentIfKnown returns the result of Sent, or nil if the harness lacks it.
func (t *trial) sentIfKnown() []Sent {
	if t.Sent == nil {
		return nil
	}
	return t.Sent()
}

// madeIfKnown returns the result of Made, or nil if the harness lacks it.
func (t *trial) madeIfKnown() []Made {
	if t.Made == nil {
		return nil
	}
	return t.Made()
}

func (o operation) takesTheContextsOwn(t *trial) {
	p := o.in(t, t.home)
	o.requireOwn(t, p, func() error { return o.try(t.Context(), p) })
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
		return errorOf(o.call.with(t.Context(), elsewhere.Operations, o.op, changed(o.input(p), with)))
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
			_ = o.requireUnsupported(t, func() (any, error) { return o.call.with(t.Context(), other.Operations, o.op, o.input(p)) })
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
				err := o.requireUnsupported(t, func() (any, error) { return o.changing(t.Context(), p, document.O(one.Name, given)) })
				o.requireRefusal(t, boterr.Unsupported, either(one), nil, err)
			})
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
}

// requireUnsupported checks that a call returns no result and an Unsupported error that names the allowed platforms. It
// returns the error.
func (o operation) requireUnsupported(t *trial, call func() (any, error)) error {
	t.Helper()
	result, err := call()
	t.requireCode(boterr.Unsupported, err)
	for _, allowed := range o.specified().Platforms {
		require.ErrorContains(t, err, allowed, "the error must name the allowed platforms")
	}
	require.Zero(t, result, "the result of a failed call")
	return err
}

func (o operation) needsAnExternalID(t *trial) {
	p := o.in(t, t.home)
	unknown := t.another(p, member.Member{})
	t.update("_id", unknown.ID, "externalId", "")
	before := t.state()
	for name, given := range map[string]any{"member": unknown, "memberId": unknown.ID} {
		if o.has(name) {
			t.try(name, func(t *trial) {
				t.requireCode(boterr.FailedPrecondition, errorOf(o.changing(t.Context(), p, document.O(name, given))))
			})
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
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

// strangers returns changes of the id at a path: to an unknown id, and to an id of the other app.
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

// strangersByID returns changes of an id parameter of ofContext: to an unknown id, and to an id of the other app.
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

// strangersByRecord returns changes of a record parameter: to an unknown record, to a record of the other app, and to such
// a record with the fields of a record of this app.
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
