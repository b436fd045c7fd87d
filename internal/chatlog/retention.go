package chatlog

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

const (
	// trimEvery is the number of new entries after which a conversation is trimmed.
	trimEvery = 64
	// youngest is the age up to which trimming keeps entries, because a slow writer may still rely on the number that
	// it has read.
	youngest = time.Hour
	// removeBatch is the maximum number of documents removed per write.
	removeBatch = 500
)

// Erase removes a conversation and its state, and returns the number of entries removed. An entry that is appended at the
// same time may remain, and if another one begins the conversation again first, its followers miss it. After an error, a
// repeated call removes the rest. InvalidArgument: the conversation is incomplete. Other errors come from the store.
func (l *Log) Erase(ctx context.Context, which Conversation) (removed int64, err error) {
	if err := which.check(); err != nil {
		return 0, err
	}
	key := which.key()
	removed, err = l.entries.Delete(ctx, mustFilter(fieldLog, key), store.DeleteOptions{Multi: true})
	if err == nil {
		_, err = l.states.Delete(ctx, mustFilter(document.IDField, key), store.DeleteOptions{})
	}
	l.subs.notify(key)
	return removed, err
}

// RemoveOld removes the entries of all conversations that are older than Config.KeepFor, and returns their number. It
// also removes states that have not changed for that long. Errors come from the store.
func (l *Log) RemoveOld(ctx context.Context) (removed int64, err error) {
	if l.config.KeepFor < 0 {
		return 0, nil
	}
	before := int64(document.TimestampOf(l.config.Env.Now().Add(-l.config.KeepFor)))
	old := mustFilter(fieldAt, document.O("$lt", before))
	removed, err = removeOldest(ctx, l.entries, old)
	if err == nil {
		_, err = removeOldest(ctx, l.states, old)
	}
	return removed, err
}

// removeOldest removes matching documents in batches, so that other writes can run in between.
func removeOldest(ctx context.Context, from store.Collection, old *query.Filter) (removed int64, err error) {
	for {
		batch, err := from.Find(ctx, old, store.FindOptions{Sort: oldestFirst, Limit: removeBatch, Projection: onlyID})
		if err != nil || len(batch) == 0 {
			return removed, err
		}
		ids := make([]any, len(batch))
		for i, o := range batch {
			ids[i] = o.Value(document.IDField)
		}
		among := mustFilter(document.IDField, document.O("$in", document.A(ids...)))
		done, err := from.Delete(ctx, query.And(among, old), store.DeleteOptions{Multi: true})
		removed += done
		if err != nil || len(batch) < removeBatch {
			return removed, err
		}
	}
}

var oldestFirst = must(query.CompileSort(document.O(fieldAt, 1)))

// trim removes the oldest entries of a conversation beyond Config.KeepEntries, each trimEvery entries. It logs errors.
func (l *Log) trim(ctx context.Context, key string, newest int64) {
	if l.config.KeepEntries < 0 || newest%trimEvery != 0 {
		return
	}
	before := l.config.Env.Now().Add(-youngest)
	_, err := l.entries.Delete(ctx, mustFilter(fieldLog, key, fieldSeq, document.O("$lte", newest-int64(l.config.KeepEntries)),
		fieldAt, document.O("$lt", int64(document.TimestampOf(before)))), store.DeleteOptions{Multi: true})
	if err != nil {
		l.log.LogAttrs(ctx, slog.LevelWarn, "chatlog: old entries not removed", slog.String("error", display.Text(err)))
	}
}

// prepare creates the indexes, unless this Log has already done so.
func (l *Log) prepare(ctx context.Context) error {
	l.indexes.mu.Lock()
	defer l.indexes.mu.Unlock()
	if l.indexes.areMade {
		return nil
	}
	unique := func(paths ...string) store.Index {
		index := store.Ascending(paths...)
		index.Unique = true
		return index
	}
	for _, index := range []store.Index{unique(fieldLog, fieldSeq), unique(fieldLog, fieldKey), store.Ascending(fieldAt)} {
		if err := l.entries.EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	if err := l.states.EnsureIndex(ctx, store.Ascending(fieldAt)); err != nil {
		return err
	}
	l.indexes.areMade = true
	return nil
}
