package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var projectionRules = []Rule{
	{
		Name:  "FindProjects",
		Text:  "Projection says which fields of the documents come back, in the order of the document",
		check: findProjects,
	},
	{
		Name:  "FilterAndSortSeeWholeDocuments",
		Text:  "filter and sort see the whole documents, whatever the projection leaves of them",
		check: filterAndSortSeeWholeDocuments,
	},
	{
		Name:  "ProjectionCutsArrays",
		Text:  "$slice, $elemMatch and a path that ends in $ cut arrays down",
		check: projectionCutsArrays,
	},
	{
		Name:  "ProjectionWithoutAPositionIsRefused",
		Text:  "a path that ends in $ is InvalidArgument where the filter matched no element of the array",
		check: projectionWithoutAPositionIsRefused,
	},
	{
		Name:  "FindAndModifyProjects",
		Text:  "Projection says which fields of the document come back, before the change or after it, and what is stored is whole",
		check: findAndModifyProjects,
	},
	{
		Name:  "FindAndModifyRefusesAProjectionWhole",
		Text:  "after an error of the projection nothing has changed; a path that ends in $ is InvalidArgument with New",
		check: findAndModifyRefusesAProjectionWhole,
	},
}

// projection compiles a projection of paths and what becomes of them.
func (t *trial) projection(pairs ...any) *query.Projection {
	t.Helper()
	p, err := query.CompileProjection(document.O(pairs...))
	require.NoError(t, err)
	return p
}

func findProjects(t *trial) {
	t.insert(
		document.O("_id", 1, "b", 1, "a", document.O("x", 1, "y", 2), "c", 3),
		document.O("_id", 2, "a", document.A(document.O("x", 1.5), 7), "b", true),
	)
	for _, test := range []struct {
		projection *query.Projection
		want       []document.Object
	}{
		{
			t.projection("a.x", 1, "b", 1),
			[]document.Object{
				document.O("_id", 1, "b", 1, "a", document.O("x", 1)),
				document.O("_id", 2, "a", document.A(document.O("x", 1.5)), "b", true),
			},
		},
		{t.projection("c", 1, "_id", 0), []document.Object{document.O("c", 3), document.O()}},
		{
			t.projection("a", 0),
			[]document.Object{document.O("_id", 1, "b", 1, "c", 3), document.O("_id", 2, "b", true)},
		},
	} {
		found := t.find(nil, store.FindOptions{Projection: test.projection})
		t.requireSame(test.want, found, "projection %s", test.projection.Source())
	}
}

func filterAndSortSeeWholeDocuments(t *trial) {
	t.insert(numbered(4)...)
	options := store.FindOptions{Sort: t.order("n", -1), Skip: 1, Limit: 2, Projection: t.projection("none", 1)}
	found := t.find(t.filter("n", document.O("$gt", 1)), options)
	t.requireSame([]document.Object{document.O("_id", 3), document.O("_id", 2)}, found)
	result := t.findAndModify(t.filter("n", 4), t.change("$set", document.O("last", true)),
		store.FindAndModifyOptions{Projection: t.projection("none", 1)})
	t.requireModified(store.FindAndModifyResult{Document: document.O("_id", 4), Matched: true, Modified: true}, result)
}

func projectionCutsArrays(t *trial) {
	t.insert(document.O("_id", 1, "n", 1, "list", document.A(1, 2, 3, 4)))
	for _, test := range []struct {
		projection *query.Projection
		want       document.Object
	}{
		{t.projection("list", document.O("$slice", -2)), document.O("_id", 1, "n", 1, "list", document.A(3, 4))},
		{t.projection("list", document.O("$slice", document.A(1, 2)), "n", 1), document.O("_id", 1, "n", 1, "list", document.A(2, 3))},
		{t.projection("list", document.O("$elemMatch", document.O("$gt", 2))), document.O("_id", 1, "list", document.A(3))},
		{t.projection("list.$", 1), document.O("_id", 1, "list", document.A(2))},
	} {
		found := t.find(t.filter("list", document.O("$gte", 2)), store.FindOptions{Projection: test.projection})
		t.requireSame([]document.Object{test.want}, found, "projection %s", test.projection.Source())
	}
}

func projectionWithoutAPositionIsRefused(t *trial) {
	t.insert(document.O("_id", 1, "list", document.A(1, 2)))
	for _, filter := range []*query.Filter{nil, t.filter("_id", 1), t.filter("list.0", 1)} {
		_, err := t.Find(t.ctx(), filter, store.FindOptions{Projection: t.projection("list.$", 1)})
		t.requireCode(boterr.InvalidArgument, err, "filter %s", filter.Source())
	}
}

func findAndModifyProjects(t *trial) {
	t.insert(document.O("_id", 1, "n", 1, "list", document.A(1, 2)))
	inc := t.change("$inc", document.O("n", 1))
	before := t.findAndModify(nil, inc, store.FindAndModifyOptions{Projection: t.projection("n", 1)})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", 1, "n", 1), Matched: true, Modified: true}, before)
	after := t.findAndModify(nil, inc, store.FindAndModifyOptions{New: true, Projection: t.projection("n", 1, "_id", 0)})
	t.requireModified(store.FindAndModifyResult{Document: document.O("n", 3), Matched: true, Modified: true}, after)
	position := t.findAndModify(t.filter("list", 2), inc, store.FindAndModifyOptions{Projection: t.projection("list.$", 1)})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", 1, "list", document.A(2)), Matched: true, Modified: true}, position)
	t.requireHolds(document.O("_id", 1, "n", 4, "list", document.A(1, 2)))

	none := t.findAndModify(t.filter("n", 9), inc, store.FindAndModifyOptions{Projection: t.projection("n", 1)})
	t.requireModified(store.FindAndModifyResult{}, none)
	inserted := t.findAndModify(t.filter("_id", "new"), inc,
		store.FindAndModifyOptions{New: true, Upsert: true, Projection: t.projection("n", 1, "_id", 0)})
	t.requireModified(store.FindAndModifyResult{Document: document.O("n", 1), UpsertedID: "new"}, inserted)
}

func findAndModifyRefusesAProjectionWhole(t *trial) {
	held := document.O("_id", 1, "list", document.A(1, 2))
	t.insert(held)
	change, projection := t.change("$push", document.O("list", 3)), t.projection("list.$", 1)
	for _, test := range []struct {
		filter  *query.Filter
		options store.FindAndModifyOptions
	}{
		{nil, store.FindAndModifyOptions{Projection: projection}},
		{t.filter("list", 2), store.FindAndModifyOptions{New: true, Projection: projection}},
	} {
		_, err := t.FindAndModify(t.ctx(), test.filter, change, test.options)
		t.requireCode(boterr.InvalidArgument, err, "filter %s", test.filter.Source())
		t.requireHolds(held)
	}
}
