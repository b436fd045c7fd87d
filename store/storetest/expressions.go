package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var expressionRules = []Rule{
	{
		Name:  "ExprComparesFields",
		Text:  "$expr in a filter compares what aggregation expressions make of a document",
		Needs: []Capability{Expressions},
		check: exprComparesFields,
	},
	{
		Name:  "ExprThatFailsFailsTheOperation",
		Text:  "where an $expr fails on a document, the operation is InvalidArgument, and nothing has changed",
		Needs: []Capability{Expressions},
		check: exprThatFailsFailsTheOperation,
	},
	{
		Name:  "ExprKnowsTheStoresTime",
		Text:  "$$NOW in an $expr is the time of the store's clock",
		Needs: []Capability{Expressions},
		check: exprKnowsTheStoresTime,
	},
}

// expr is the filter of an expression.
func (t *trial) expr(operator string, arguments ...any) *query.Filter {
	t.Helper()
	return t.filter("$expr", document.O(operator, document.A(arguments...)))
}

func exprComparesFields(t *trial) {
	t.insert(
		document.O("_id", 1, "spent", 120, "budget", 100),
		document.O("_id", 2, "spent", 50, "budget", 100),
		document.O("_id", 3, "spent", 7),
	)
	filter := t.expr("$gt", "$spent", "$budget")
	t.requireIDs([]any{1, 3}, t.find(filter, store.FindOptions{}))
	count, err := t.Count(t.ctx(), filter)
	require.NoError(t, err)
	require.Equal(t, int64(2), count)
}

func exprThatFailsFailsTheOperation(t *trial) {
	docs := []document.Object{document.O("_id", 1, "n", 0), document.O("_id", 2, "n", 1)}
	t.insert(docs...)
	filter := t.expr("$gte", document.O("$divide", document.A(1, "$n")), 1)
	_, err := t.Find(t.ctx(), filter, store.FindOptions{})
	t.requireCode(boterr.InvalidArgument, err)
	_, err = t.Count(t.ctx(), filter)
	t.requireCode(boterr.InvalidArgument, err)
	_, err = t.Update(t.ctx(), filter, t.change("$set", document.O("seen", true)), store.UpdateOptions{Multi: true})
	t.requireCode(boterr.InvalidArgument, err)
	_, err = t.Delete(t.ctx(), filter, store.DeleteOptions{Multi: true})
	t.requireCode(boterr.InvalidArgument, err)
	t.requireHolds(docs...)
}

func exprKnowsTheStoresTime(t *trial) {
	now, err := t.store.Now(t.ctx())
	require.NoError(t, err)
	t.insert(
		document.O("_id", "before", "at", now.Add(-time.Hour)),
		document.O("_id", "after", "at", now.Add(time.Hour)),
	)
	t.requireIDs([]any{"before"}, t.find(t.expr("$lt", "$at", "$$NOW"), store.FindOptions{}))
}
