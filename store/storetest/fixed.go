package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var fixedRules = []Rule{
	{
		Name:  "IDIsFixed",
		Text:  "_id is fixed always: no operator and no replacement gives it another value",
		check: idIsFixed,
	},
	{
		Name:  "FixedFieldsStay",
		Text:  "an update that would give a fixed field another value is InvalidArgument, and changes nothing",
		check: fixedFieldsStay,
	},
	{
		Name:  "ReplacementKeepsFixedFields",
		Text:  "a replacement that lacks a fixed field keeps it",
		check: replacementKeepsFixedFields,
	},
	{
		Name:  "ReplacementKeepsWhatIsToBeKept",
		Text:  "a replacement that lacks a kept field leaves it as it is, and other updates may change it",
		check: replacementKeepsWhatIsToBeKept,
	},
	{
		Name:  "StampsAreRenewedByAChange",
		Text:  "stamps are renewed in a document that the update changes, and counted from 1 where they are no number",
		check: stampsAreRenewedByAChange,
	},
	{
		Name:  "StampsStayWithoutAChange",
		Text:  "stamps are left alone in a document that the update does not change otherwise",
		check: stampsStayWithoutAChange,
	},
	{
		Name:  "UpdatesDoNotReachStamps",
		Text:  "what the caller's update does to stamped fields has no effect and does not count as a change",
		check: updatesDoNotReachStamps,
	},
}

// changers are the two ways to change the first match.
var changers = map[string]func(*trial, query.Change) (modified bool, err error){
	"Update": func(t *trial, change query.Change) (bool, error) {
		result, err := t.Update(t.ctx(), nil, change, first)
		return result.Modified == 1, err
	},
	"FindAndModify": func(t *trial, change query.Change) (bool, error) {
		result, err := t.FindAndModify(t.ctx(), nil, change, store.FindAndModifyOptions{})
		return result.Modified, err
	},
}

// requireRefused checks that changes are InvalidArgument and change nothing.
func (t *trial) requireRefused(held document.Object, fixed []string, changes ...query.Change) {
	t.Helper()
	t.insert(held)
	for _, change := range changes {
		change.Fixed = fixed
		for name, apply := range changers {
			_, err := apply(t, change)
			t.requireCode(boterr.InvalidArgument, err, "%s of %s", name, change.Update.Source())
			t.requireHolds(held)
		}
	}
}

func idIsFixed(t *trial) {
	t.requireRefused(document.O("_id", 1, "n", 5), nil,
		t.change("$set", document.O("_id", 2)),
		t.change("$unset", document.O("_id", "")),
		t.change("$inc", document.O("_id", 1)),
		t.change("_id", 2, "n", 5),
	)
	t.update(nil, t.change("$set", document.O("_id", 1, "n", 2)), first)
	t.update(nil, t.change("_id", 1, "n", 3), first)
	t.requireHolds(document.O("_id", 1, "n", 3))
}

func fixedFieldsStay(t *trial) {
	t.requireRefused(document.O("_id", 1, "app", "a", "in", document.O("x", 1), "n", 1), []string{"app", "in", "none"},
		t.change("$set", document.O("app", "b")),
		t.change("$set", document.O("n", 5, "in.x", 2)),
		t.change("$unset", document.O("in", "")),
		t.change("$set", document.O("none", 1)),
		t.change("$rename", document.O("n", "app")),
		t.change("app", "b"),
		t.change("none", 1),
	)
}

func replacementKeepsFixedFields(t *trial) {
	t.insert(document.O("_id", 1, "app", "a", "n", 1))
	for n, replacement := range []query.Change{t.change("n", 0), t.change("app", "a", "n", 1), t.change("_id", 1, "n", 2)} {
		replacement.Fixed = []string{"app", "none"}
		t.update(nil, replacement, first)
		t.requireHolds(document.O("_id", 1, "app", "a", "n", n))
	}
}

func replacementKeepsWhatIsToBeKept(t *trial) {
	t.insert(document.O("_id", 1, "mark", 7, "n", 1))
	replacement := t.change("n", 2)
	replacement.Kept = []string{"mark", "none"}
	t.update(nil, replacement, first)
	t.requireHolds(document.O("_id", 1, "mark", 7, "n", 2))
	other := t.change("n", 3, "mark", 8)
	other.Kept = []string{"mark"}
	t.update(nil, other, first)
	t.requireHolds(document.O("_id", 1, "mark", 8, "n", 3))
	unset := t.change("$unset", document.O("mark", true))
	unset.Kept = []string{"mark"}
	t.update(nil, unset, first)
	t.requireHolds(document.O("_id", 1, "n", 3))
}

// stamped returns a change with stamps.
func (t *trial) stamped(pairs ...any) query.Change {
	t.Helper()
	change := t.change(pairs...)
	change.Stamps = query.Stamps{Set: document.O("updatedAt", 99, "etag", "new"), Increment: []string{"_version", "count"}}
	return change
}

func stampsAreRenewedByAChange(t *trial) {
	for name, apply := range changers {
		c := t.with(t.store.Collection("storetest." + name))
		c.insert(document.O("_id", 1, "updatedAt", 1, "_version", 7, "count", "none", "n", 1))
		modified, err := apply(c, t.stamped("$set", document.O("n", 2)))
		require.NoError(t, err)
		require.True(t, modified)
		c.requireHolds(document.O("_id", 1, "updatedAt", 99, "_version", 8, "count", 1, "n", 2, "etag", "new"))
	}
}

func stampsStayWithoutAChange(t *trial) {
	held := document.O("_id", 1, "updatedAt", 1, "_version", 7, "n", 1)
	t.insert(held)
	for name, apply := range changers {
		for _, change := range []query.Change{
			t.stamped("$set", document.O("n", 1)),
			t.stamped("$unset", document.O("x", "")),
			t.stamped("$inc", document.O("n", 0)),
			t.stamped("_id", 1, "n", 1),
		} {
			modified, err := apply(t, change)
			require.NoError(t, err)
			require.False(t, modified, "%s of %s", name, change.Update.Source())
			t.requireHolds(held)
		}
		_, err := apply(t, t.stamped("n", 1))
		require.NoError(t, err)
		t.requireHolds(held)
	}
}

func updatesDoNotReachStamps(t *trial) {
	held := document.O("_id", 1, "updatedAt", 1, "_version", 7, "n", 1)
	t.insert(held)
	for name, apply := range changers {
		for _, change := range []query.Change{
			t.stamped("$set", document.O("updatedAt", 5)),
			t.stamped("$inc", document.O("_version", 5)),
			t.stamped("$unset", document.O("updatedAt", "")),
			t.stamped("_id", 1, "n", 1, "updatedAt", 5),
		} {
			modified, err := apply(t, change)
			require.NoError(t, err)
			require.False(t, modified, "%s of %s", name, change.Update.Source())
			t.requireHolds(held)
		}
	}
	t.update(nil, t.stamped("$set", document.O("n", 2, "_version", 50, "updatedAt", 5)), first)
	t.requireHolds(document.O("_id", 1, "updatedAt", 99, "_version", 8, "n", 2, "etag", "new", "count", 1))
}
