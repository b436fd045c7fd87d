package inbox

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// DeadLettersParams say which dead letters are meant. The zero value means all.
type DeadLettersParams struct {
	// App and Channel are the ids of where the events arrived. "" for any.
	App, Channel string
	// Skip is the number of dead letters to leave out at the beginning, Limit the most that are
	// returned; 0 is all.
	Skip, Limit int
}

// DeadLetters returns events that were given up, in the order in which they were accepted. The
// errors are those of the store.
func (b *Inbox) DeadLetters(ctx context.Context, p DeadLettersParams) ([]DeadLetter, error) {
	which := allDead()
	if p.App != "" {
		which = which.With(fieldApp, p.App)
	}
	if p.Channel != "" {
		which = which.With(fieldChannel, p.Channel)
	}
	if p.Skip < 0 || p.Limit < 0 {
		return nil, boterr.Invalid("skip", "skip and limit must not be negative")
	}
	found, err := b.findSorted(ctx, which, fieldAcceptedAt, store.FindOptions{Skip: int64(p.Skip), Limit: int64(p.Limit)})
	if err != nil {
		return nil, err
	}
	letters := make([]DeadLetter, len(found))
	for i, o := range found {
		letters[i] = readDead(o)
	}
	return letters, nil
}

// DeadLetter returns an event that was given up, by its id. NotFound: there is none of that id. The
// other errors are those of the store.
func (b *Inbox) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	found, err := b.find(ctx, deadOf(id), store.FindOptions{Limit: 1})
	if err == nil && len(found) == 0 {
		err = noDeadLetter(id)
	}
	if err != nil {
		return DeadLetter{}, err
	}
	return readDead(found[0]), nil
}

// allDead is the filter of all dead letters. When they died has an index where their state has none.
func allDead() document.Object {
	return document.O(fieldState, stateDead, fieldDiedAt, document.O("$gt", 0))
}

// deadOf is the filter of a dead letter.
func deadOf(id string) document.Object { return document.O(fieldID, id, fieldState, stateDead) }

func noDeadLetter(id string) error {
	return boterr.New(boterr.NotFound, "id", "there is no dead letter %s: it was retried or discarded, or never was one", id)
}

// Retry puts an event that was given up back into its lane, where it is the next one, with all its
// attempts. What it remembers of earlier ones stays. NotFound: there is no dead letter of that
// id. The other errors are those of the store.
func (b *Inbox) Retry(ctx context.Context, id string) error {
	letter, err := b.DeadLetter(ctx, id)
	if err != nil {
		return err
	}
	lane := Lane(letter.Event.App, letter.Event.Channel, letter.Event.From)
	if err := b.changeDead(ctx, id, b.updates().revive, document.O(fieldLane, lane)); err != nil {
		return err
	}
	b.load.add(letter.Event.App, 1)
	b.feed.accepted(lane)
	return nil
}

// Discard takes an event away that was given up. A repetition of it is not handled either. NotFound:
// there is no dead letter of that id. The other errors are those of the store.
func (b *Inbox) Discard(ctx context.Context, id string) error {
	now, err := b.turns.Roughly(ctx)
	if err != nil {
		return err
	}
	return b.changeDead(ctx, id, b.updates().done, document.O(fieldDoneAt, int64(document.At(now))))
}

// changeDead changes a dead letter.
func (b *Inbox) changeDead(ctx context.Context, id string, update *query.Update, set document.Object) error {
	filter, err := query.CompileFilter(deadOf(id))
	if err != nil {
		return err
	}
	changed, err := b.update(ctx, filter, update, set)
	if err == nil && changed == 0 {
		err = noDeadLetter(id)
	}
	return err
}
