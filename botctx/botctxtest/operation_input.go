package botctxtest

import (
	"errors"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

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
