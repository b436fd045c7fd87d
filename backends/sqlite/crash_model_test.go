package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// crashWriters is the number of goroutines that write while the process is killed.
const crashWriters = 8

type kindOfWrite int

const (
	insertSome kindOfWrite = iota
	updateOne
	modifyNewest
	deleteOldest
	upsertOne
	updateAll
	claimSlot // Writers compete for slots. A unique index lets one of them have a slot.
	countUp   // All writers change the same document.
	kindsOfWrite
)

// crashWrite is one write. Its effect is determined by the writer, the write's number, and the writer's
// documents.
type crashWrite struct {
	writer, number int
	kind           kindOfWrite
	// size is the length of the text in the document. Some texts are longer than a page.
	size int
	// pick selects documents.
	pick int
}

func writeOf(writer, number int) crashWrite {
	random := rand.New(rand.NewPCG(uint64(writer), uint64(number)))
	w := crashWrite{writer: writer, number: number, kind: kindOfWrite(random.IntN(int(kindsOfWrite)))}
	w.size = random.IntN(300)
	if random.IntN(20) == 0 {
		w.size += 10_000
	}
	w.pick = random.IntN(1 << 20)
	return w
}

// text returns the text for the changed documents.
func (w crashWrite) text() string {
	return strings.Repeat(string(rune('a'+w.number%26)), w.size)
}

// fields returns the fields that the write sets.
func (w crashWrite) fields() document.Object {
	return document.O("number", w.number, "text", w.text())
}

// id returns the _id of a document that the write inserts with this key.
func (w crashWrite) id(key string) string { return fmt.Sprintf("%d/%d/%s", w.writer, w.number, key) }

func (w crashWrite) inserted(key string) document.Object {
	return document.O("_id", w.id(key), "key", key, "writer", w.writer, "number", w.number, "text", w.text())
}

// key returns the key of one of the writer's documents. There are few keys, so they repeat.
func (w crashWrite) key(i int) string { return fmt.Sprint("key-", (w.pick+i)%40) }

// apply returns the writer's documents as they are after the write.
func (w crashWrite) apply(documents []document.Object) []document.Object {
	changed := func(o document.Object) document.Object {
		return o.With("number", w.number).With("text", w.text())
	}
	next := append([]document.Object{}, documents...)
	switch w.kind {
	case insertSome:
		if !w.hasAny(documents, 3) {
			for i := range 3 {
				next = append(next, w.inserted(w.key(i)))
			}
		}
	case updateOne:
		for i, o := range next {
			if document.Get(o, "key", "") == w.key(0) {
				next[i] = changed(o)
			}
		}
	case modifyNewest:
		if last := len(next) - 1; last >= 0 {
			next[last] = changed(next[last])
		}
	case deleteOldest:
		next = next[min(1, len(next)):]
	case upsertOne:
		if !w.hasAny(documents, 1) {
			return append(next, w.inserted(w.key(0)))
		}
		for i, o := range next {
			if document.Get(o, "key", "") == w.key(0) {
				next[i] = changed(o)
			}
		}
	case updateAll:
		for i, o := range next {
			next[i] = changed(o)
		}
	default: // Other writes use separate collections.
	}
	return next
}

// hasAny reports whether one of the write's first keys exists, so that a unique index refuses the write.
func (w crashWrite) hasAny(documents []document.Object, keys int) bool {
	for _, o := range documents {
		for i := range keys {
			if document.Get(o, "key", "") == w.key(i) {
				return true
			}
		}
	}
	return false
}

func (w crashWrite) slot() int { return w.number / 4 }

// run carries out the write. It returns false if a unique index refused it.
func (w crashWrite) run(ctx context.Context, database store.Store) (bool, error) {
	items := database.Collection("items")
	set, err := query.CompileUpdate(document.O("$set", w.fields()))
	if err != nil {
		return false, err
	}
	mine, err := query.CompileFilter(document.O("writer", w.writer))
	if err != nil {
		return false, err
	}
	one, err := query.CompileFilter(document.O("writer", w.writer, "key", w.key(0)))
	if err != nil {
		return false, err
	}
	switch w.kind {
	case insertSome:
		return taken(items.Insert(ctx, w.inserted(w.key(0)), w.inserted(w.key(1)), w.inserted(w.key(2))))
	case updateOne:
		_, err = items.Update(ctx, one, query.Change{Update: set}, store.UpdateOptions{})
	case modifyNewest:
		err = w.modifyNewest(ctx, items, mine, set)
	case deleteOldest:
		_, err = items.Delete(ctx, mine, store.DeleteOptions{})
	case upsertOne:
		change := query.Change{Update: set, OnInsert: document.O("_id", w.id(w.key(0)))}
		_, err = items.Update(ctx, one, change, store.UpdateOptions{Upsert: true})
	case updateAll:
		_, err = items.Update(ctx, mine, query.Change{Update: set}, store.UpdateOptions{Multi: true})
	case claimSlot:
		return taken(database.Collection("claims").Insert(ctx, document.O("_id", fmt.Sprint(w.writer, "/", w.number), "slot", w.slot())))
	default:
		err = w.countUp(ctx, database)
	}
	return true, err
}

func taken(err error) (bool, error) {
	if errors.Is(err, boterr.AlreadyExists) {
		return false, nil
	}
	return err == nil, err
}

// modifyNewest changes the writer's last document by its _id, because no sort can refer to the order of
// insertion.
func (w crashWrite) modifyNewest(ctx context.Context, items store.Collection, mine *query.Filter, set *query.Update) error {
	found, err := items.Find(ctx, mine, store.FindOptions{})
	if err != nil || len(found) == 0 {
		return err
	}
	id, _ := found[len(found)-1].Field("_id")
	byID, err := query.CompileFilter(document.O("_id", id))
	if err != nil {
		return err
	}
	_, err = items.FindAndModify(ctx, byID, query.Change{Update: set}, store.FindAndModifyOptions{New: true})
	return err
}

func (w crashWrite) countUp(ctx context.Context, database store.Store) error {
	byID, err := query.CompileFilter(document.O("_id", "all"))
	if err != nil {
		return err
	}
	increment, err := query.CompileUpdate(document.O("$inc", document.O("count", 1)))
	if err != nil {
		return err
	}
	_, err = database.Collection("counters").FindAndModify(ctx, byID, query.Change{Update: increment},
		store.FindAndModifyOptions{Upsert: true})
	return err
}
