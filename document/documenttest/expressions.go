package documenttest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
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
	{
		Name:  "PipelineComputesTheDocument",
		Text:  "a pipeline makes the new document of the old one, of each that matches with Multi",
		check: pipelineComputesTheDocument,
	},
	{
		Name:  "PipelineKeepsFixedFields",
		Text:  "a pipeline that would give a fixed field another value is InvalidArgument, and one that removes it keeps it",
		check: pipelineKeepsFixedFields,
	},
	{
		Name:  "PipelineThatFailsIsAllOrNone",
		Text:  "where a pipeline fails on a document, the operation is InvalidArgument, and nothing has changed in any",
		check: pipelineThatFailsIsAllOrNone,
	},
	{
		Name:  "PipelineUpserts",
		Text:  "an upsert runs the pipeline over the fields that the filter requires",
		check: pipelineUpserts,
	},
}

// expr is the filter of an expression.
func (t *trial) expr(operator string, arguments ...any) *document.Filter {
	t.Helper()
	return t.filter("$expr", document.O(operator, document.A(arguments...)))
}

// pipeline compiles a pipeline of stages.
func (t *trial) pipeline(stages ...any) document.Change {
	t.Helper()
	u, err := document.CompilePipeline(document.A(stages...))
	require.NoError(t, err)
	return document.Change{Update: u}
}

func exprComparesFields(t *trial) {
	t.insert(
		document.O("_id", 1, "spent", 120, "budget", 100),
		document.O("_id", 2, "spent", 50, "budget", 100),
		document.O("_id", 3, "spent", 7),
	)
	filter := t.expr("$gt", "$spent", "$budget")
	t.requireIDs([]any{1, 3}, t.find(filter, document.FindOptions{}))
	count, err := t.Count(t.ctx(), filter)
	require.NoError(t, err)
	require.Equal(t, int64(2), count)
}

func exprThatFailsFailsTheOperation(t *trial) {
	docs := []document.Object{document.O("_id", 1, "n", 0), document.O("_id", 2, "n", 1)}
	t.insert(docs...)
	filter := t.expr("$gte", document.O("$divide", document.A(1, "$n")), 1)
	_, err := t.Find(t.ctx(), filter, document.FindOptions{})
	t.requireCode(boterr.InvalidArgument, err)
	_, err = t.Count(t.ctx(), filter)
	t.requireCode(boterr.InvalidArgument, err)
	_, err = t.Update(t.ctx(), filter, t.change("$set", document.O("seen", true)), document.UpdateOptions{Multi: true})
	t.requireCode(boterr.InvalidArgument, err)
	_, err = t.Delete(t.ctx(), filter, document.DeleteOptions{Multi: true})
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
	t.requireIDs([]any{"before"}, t.find(t.expr("$lt", "$at", "$$NOW"), document.FindOptions{}))
}

func pipelineComputesTheDocument(t *trial) {
	t.insert(document.O("_id", 1, "a", 1, "b", 2), document.O("_id", 2, "a", 3, "b", 3), document.O("_id", 3, "a", 2))
	change := t.pipeline(
		document.O("$set", document.O("most", document.O("$max", document.A("$a", "$b")))),
		document.O("$unset", "a"),
	)
	result := t.update(t.filter("b", document.O("$exists", true)), change, document.UpdateOptions{Multi: true})
	require.Equal(t, document.UpdateResult{Matched: 2, Modified: 2}, result)
	t.requireHolds(document.O("_id", 1, "b", 2, "most", 2), document.O("_id", 2, "b", 3, "most", 3), document.O("_id", 3, "a", 2))
	same := t.update(t.filter("_id", 1), t.pipeline(document.O("$set", document.O("most", "$b"))), document.UpdateOptions{})
	require.Equal(t, document.UpdateResult{Matched: 1}, same, "what does not change is not modified")
	modified := t.findAndModify(t.filter("_id", 3), t.pipeline(document.O("$replaceWith", document.O("c", "$a"))),
		document.FindAndModifyOptions{New: true})
	t.requireSame([]document.Object{document.O("_id", 3, "c", 2)}, []document.Object{modified.Document})
}

func pipelineKeepsFixedFields(t *trial) {
	doc := document.O("_id", 1, "owner", "ada", "n", 1)
	t.insert(doc)
	for _, stage := range []document.Object{
		document.O("$set", document.O("_id", 2)),
		document.O("$set", document.O("owner", "bob")),
		document.O("$replaceWith", document.O("owner", document.O("$concat", document.A("$owner", "!")))),
	} {
		change := t.pipeline(stage)
		change.Fixed = []string{"owner"}
		_, err := t.Update(t.ctx(), nil, change, document.UpdateOptions{})
		t.requireCode(boterr.InvalidArgument, err, stage)
		t.requireHolds(doc)
	}
	change := t.pipeline(document.O("$replaceWith", document.O("n", 2)))
	change.Fixed = []string{"owner"}
	t.update(nil, change, document.UpdateOptions{})
	t.requireHolds(document.O("_id", 1, "owner", "ada", "n", 2))
}

func pipelineThatFailsIsAllOrNone(t *trial) {
	docs := []document.Object{document.O("_id", 1, "n", 2), document.O("_id", 2, "n", "two")}
	t.insert(docs...)
	change := t.pipeline(document.O("$set", document.O("twice", document.O("$multiply", document.A("$n", 2)))))
	_, err := t.Update(t.ctx(), nil, change, document.UpdateOptions{Multi: true})
	t.requireCode(boterr.InvalidArgument, err)
	t.requireHolds(docs...)
}

func pipelineUpserts(t *trial) {
	change := t.pipeline(document.O("$set", document.O("next", document.O("$add", document.A("$n", 1)))))
	result := t.update(t.filter("_id", 7, "n", 1, "m", document.O("$gt", 1)), change, document.UpdateOptions{Upsert: true})
	require.Equal(t, document.UpdateResult{UpsertedID: int64(7)}, result)
	t.requireHolds(document.O("_id", 7, "n", 1, "next", 2))
}
