package chatlog

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Page is a part of a conversation, in numerical order.
type Page struct {
	Entries []Entry
	// More is true if there are more entries in the direction of reading.
	More bool
	// IsCut is true if entries directly after the given number may have been removed. The reader should then
	// start again with Before.
	IsCut bool
}

// After returns the first entries of a conversation whose numbers are greater than seq, at most limit and at most
// MaxPage. A limit of 0 means MaxPage. A seq of 0 means the beginning. InvalidArgument: the conversation is incomplete.
// Other errors come from the store.
func (l *Log) After(ctx context.Context, in Conversation, seq int64, limit int) (Page, error) {
	limit = pageSize(limit)
	// The entry with the number seq is also read. If it is missing, entries were removed.
	found, err := l.find(ctx, in, document.O("$gte", seq), document.O(fieldSeq, 1), limit+2)
	if err != nil {
		return Page{}, err
	}
	var page Page
	if len(found) > 0 && found[0].Seq == seq {
		found = found[1:]
	} else {
		page.IsCut = seq > 0
	}
	page.More = len(found) > limit
	page.Entries = found[:min(limit, len(found))]
	return page, nil
}

// Before returns the last entries of a conversation whose numbers are less than seq, in ascending order, at most limit
// and at most MaxPage. A limit of 0 means MaxPage. A seq of 0 means the end. The errors are the errors of After.
func (l *Log) Before(ctx context.Context, in Conversation, seq int64, limit int) (Page, error) {
	limit = pageSize(limit)
	bound := document.O("$gt", 0)
	if seq > 0 {
		bound = document.O("$lt", seq)
	}
	found, err := l.find(ctx, in, bound, document.O(fieldSeq, -1), limit+1)
	if err != nil {
		return Page{}, err
	}
	page := Page{More: len(found) > limit, Entries: found[:min(limit, len(found))]}
	slices.Reverse(page.Entries)
	return page, nil
}

// Newest returns the number of the newest entry of a conversation, or 0 if there is none. The errors are the
// errors of After.
func (l *Log) Newest(ctx context.Context, in Conversation) (int64, error) {
	if err := in.check(); err != nil {
		return 0, err
	}
	if err := l.prepare(ctx); err != nil {
		return 0, err
	}
	return l.newest(ctx, in.key())
}

var (
	newestFirst = must(query.CompileSort(document.O(fieldSeq, -1)))
	onlySeq     = must(query.CompileProjection(document.O(fieldSeq, 1)))
)

func (l *Log) newest(ctx context.Context, key string) (int64, error) {
	found, err := l.entries.Find(ctx, mustFilter(fieldLog, key),
		store.FindOptions{Sort: newestFirst, Limit: 1, Projection: onlySeq})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return document.Get(found[0], fieldSeq, int64(0)), nil
}

// Lookup returns the entry of a conversation with a key, and reports whether there is one. The errors are the errors of
// After.
func (l *Log) Lookup(ctx context.Context, in Conversation, key string) (e Entry, exists bool, err error) {
	if err := in.check(); err != nil {
		return Entry{}, false, err
	}
	if err := l.prepare(ctx); err != nil {
		return Entry{}, false, err
	}
	found, err := l.entries.Find(ctx, mustFilter(fieldLog, in.key(), fieldKey, key), store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return Entry{}, false, err
	}
	return entryOf(found[0]), true, nil
}

func (l *Log) find(ctx context.Context, in Conversation, bound, sort document.Object, limit int) ([]Entry, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	found, err := l.entries.Find(ctx, mustFilter(fieldLog, in.key(), fieldSeq, bound),
		store.FindOptions{Sort: must(query.CompileSort(sort)), Limit: int64(limit)})
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(found))
	for i := range found {
		entries[i] = entryOf(found[i])
	}
	return entries, nil
}

func pageSize(limit int) int {
	if limit <= 0 || limit > MaxPage {
		return MaxPage
	}
	return limit
}
