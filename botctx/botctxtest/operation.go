package botctxtest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/send"
)

// operation is a row of the table of operations. What every operation must do with its
// parameters follows from it and from the specification's table: see operation_rules.go.
type operation struct {
	op   botctx.Op
	call method
	// domain is the capability of the operation's domain, needs what the operation needs beside it.
	domain Capability
	needs  []Capability
	// scene is what there must be for the input to be good, nil for nothing.
	scene *scene
	// input is good input for a place of the scene. It leaves to the context what the context has.
	input func(p *place) document.Object
	// names are the paths in the input at which the id of a record of the app stands, or that of
	// something on its platforms. Parameters that are records, or that the context has, are not
	// among them: the specification tells which these are.
	names []string
	// lookedFor is the parameter that is at fault where nothing is found in the channel that is
	// given, "" for the channel.
	lookedFor string
	// refuses are more calls that are InvalidArgument than the specification's table tells, and
	// findsNot more that are NotFound. Each changes the good input.
	refuses, findsNot func(t *trial, p *place) []change
	// own are the rules of this operation alone: what it does.
	own []Rule
	// isOnce tells that it ends what other calls need.
	isOnce bool
}

// scene is what there must be for the good input of some operations.
type scene struct {
	// platform is the only one on which it can be, "" for any.
	platform channel.Type
	// needs are what an implementation must offer for it.
	needs []Capability
	// begin makes it in the app of a place, and returns the place of the calls.
	begin func(t *trial, base *place) *place
}

// change is a change of good input, which then must be refused.
type change struct {
	name string
	// with are the parameters that take the place of the good ones. Those that are null are left
	// out.
	with document.Object
	// field is the parameter at fault.
	field string
}

// name is the operation's name as those of its rules begin.
func (o operation) name() string { return nameOfRules(o.op) }

// nameOfRules is how the names of the rules about an operation begin.
func nameOfRules(op botctx.Op) string { return strings.ToUpper(string(op[:1])) + string(op[1:]) }

// specified returns what the specification's table says of the operation.
func (o operation) specified() operations.Operation {
	specified, _ := operations.ByName(string(o.op))
	return specified
}

// platform is the only one on which the input is good, "" for any.
func (o operation) platform() channel.Type {
	if o.scene == nil {
		return ""
	}
	return o.scene.platform
}

// capabilities are what an implementation must offer for the operation to succeed.
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

// isFor reports whether the operation is of a domain, is all of a capability, or is for a platform
// alone.
func (o operation) isFor(c Capability) bool {
	isLimited := len(o.specified().Platforms) == 1 || o.op == botctx.OpUpdateMessage
	return o.domain == c || slices.Contains(o.needs, c) || isLimited && o.domain == Sends && On(o.platform()) == c
}

// in returns the place of the operation's scene in the app of a place.
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

// bare is in where nothing is prepared for the operation, because nothing can be.
func (o operation) bare(t *trial) *place {
	t.Helper()
	if o.platform() == "" {
		return t.home
	}
	return t.newPlaceOn(t.home.scope.App, o.platform())
}

// try calls the operation with good input.
func (o operation) try(ctx context.Context, p *place) error {
	_, err := o.call.with(ctx, p.Operations, o.op, o.input(p))
	return err
}

// method is an operation as it is called with parameters of any values.
type method interface {
	// with calls it with parameters as JSON has them.
	with(ctx context.Context, on botctx.Operations, op botctx.Op, input document.Object) (any, error)
	// spoiled calls it with what is no value in the place of a parameter.
	spoiled(ctx context.Context, on botctx.Operations, input document.Object, parameter string) (any, error)
}

// errUnheld is the error of a call with what neither params of Go nor a door for JSON can take.
var errUnheld = errors.New("nobody can call it so")

// by is a method of an interface of operations.
type by[P, R any] func(on botctx.Operations, ctx context.Context, params P) (R, error)

// calling makes a method of one of an interface of operations.
func calling[P, R any](m func(on botctx.Operations, ctx context.Context, params P) (R, error)) method {
	return by[P, R](m)
}

// with implements method. What no params can hold goes through the door for JSON, where there is
// one.
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

// spoiled implements method.
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

// fieldNamed returns the field of a struct that has a name in JSON.
func fieldNamed(params reflect.Value, name string) reflect.Value {
	for i := range params.NumField() {
		tag, _, _ := strings.Cut(params.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return params.Field(i)
		}
	}
	return reflect.Value{}
}

// changed returns input with other parameters.
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

// table returns the operations, in the order of their domains.
func table() []operation {
	return slices.Concat(
		ofDomain(Channels, channelOperations), ofDomain(Members, memberOperations), ofDomain(DataSources, dataOperations),
		ofDomain(Agendas, agendaOperations), ofDomain(Nodes, nodeOperations), ofDomain(Sends, sendOperations),
		ofDomain(LiveChats, assignmentOperations), ofDomain(LiveChats, groupOperations), ofDomain(LiveChats, relayOperations),
		ofDomain(Utilities, utilityOperations),
	)
}

// ofDomain returns operations of a domain.
func ofDomain(domain Capability, rows []operation) []operation {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].domain = domain
	}
	return rows
}

// offered returns the operations that the implementation offers.
func (t *trial) offered() []operation {
	return slices.DeleteFunc(table(), func(o operation) bool {
		return slices.ContainsFunc(o.capabilities(), func(c Capability) bool { return !t.offers(c) })
	})
}
