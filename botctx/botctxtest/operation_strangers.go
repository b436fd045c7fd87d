package botctxtest

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

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
