package storetest

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

var cancelRules = []Rule{
	{
		Name:  "EndedContextIsCanceled",
		Text:  "where the context ended, every operation is Canceled, and nothing was written",
		check: endedContextIsCanceled,
	},
	{
		Name:  "PassedDeadlineIsCanceled",
		Text:  "where the deadline passed, every operation is Canceled, and nothing was written",
		check: passedDeadlineIsCanceled,
	},
}

func endedContextIsCanceled(t *trial) {
	ctx, cancel := context.WithCancel(t.ctx())
	cancel()
	t.insert(numbered(2)...)
	_, err := t.store.Now(ctx)
	t.requireCanceled(err, t.answers(ctx))
}

func passedDeadlineIsCanceled(t *trial) {
	ctx, cancel := context.WithDeadline(t.ctx(), time.UnixMilli(0))
	defer cancel()
	t.insert(numbered(2)...)
	_, err := t.store.Now(ctx)
	t.requireCanceled(err, t.answers(ctx))
}

// answers returns what every operation of the collection answers.
func (t *trial) answers(ctx context.Context) map[string]error {
	change, replacement := t.change("$set", document.O("n", 9)), t.change("n", 9)
	_, find := t.Find(ctx, nil, store.FindOptions{})
	_, findOne := t.Find(ctx, t.filter("_id", 1), store.FindOptions{})
	_, count := t.Count(ctx, nil)
	_, distinct := t.Distinct(ctx, "n", nil)
	_, update := t.Update(ctx, nil, change, multi)
	_, updateOne := t.Update(ctx, t.filter("_id", 1), replacement, first)
	_, upserted := t.Update(ctx, t.filter("_id", 3), change, upsert)
	_, findAndModify := t.FindAndModify(ctx, nil, change, store.FindAndModifyOptions{})
	_, removed := t.Delete(ctx, nil, store.DeleteOptions{Multi: true})
	return map[string]error{
		"Find": find, "Find by _id": findOne, "Count": count, "Distinct": distinct,
		"Insert": t.Insert(ctx, document.O("_id", 3)), "Update": update, "Update by _id": updateOne, "upsert": upserted,
		"FindAndModify": findAndModify, "Delete": removed,
		"EnsureIndex": t.EnsureIndex(ctx, store.Index{Keys: ascending("n")}),
	}
}

// requireCanceled checks that all answers are Canceled, and nothing was written.
func (t *trial) requireCanceled(now error, answers map[string]error) {
	t.Helper()
	t.requireCode(boterr.Canceled, now, "Now")
	for name, err := range answers {
		t.requireCode(boterr.Canceled, err, name)
	}
	t.requireHolds(numbered(2)...)
}
