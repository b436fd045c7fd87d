package memstore

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// lookUp returns up to limit documents, 0 for all, that a filter finds which says what scalars some fields
// have, and nothing else: the _id among them, or just the fields of an index. It needs neither a plan nor
// an evaluation, and tells whether the filter is such a one.
func (c *content) lookUp(
	ctx context.Context, filter *query.Filter, limit int64,
) (found []document.Object, isTold bool, err error) {
	if id, isID := idOf(filter); isID {
		return c.lookUpID(ctx, filter, id)
	}
	if filter.FieldCount() == 0 {
		return nil, false, nil
	}
	for i := range c.indexes {
		if there, ok, isKey := c.indexes[i].lookUp(filter); isKey && ok {
			found, err = c.at(ctx, &there, limit)
			return found, true, err
		} else if isKey {
			return []document.Object{}, true, checkEnded(ctx)
		}
	}
	return nil, false, nil
}

// lookUpID is lookUp for a filter that names an _id.
func (c *content) lookUpID(
	ctx context.Context, filter *query.Filter, id any,
) (found []document.Object, isTold bool, err error) {
	if err := checkEnded(ctx); err != nil {
		return nil, false, err
	}
	_, o, ok := c.ids.find(&c.documents, id)
	if !ok {
		return []document.Object{}, true, nil
	}
	if !filter.IsEquality() {
		if ok, isTold = filter.HasFields(o); !isTold {
			return nil, false, nil
		}
	}
	if !ok {
		return []document.Object{}, true, nil
	}
	return []document.Object{o}, true, nil
}

// lookUp returns the positions of the documents that a filter finds, whether there are any, and whether it
// names the fields of the index and nothing else.
func (x *index) lookUp(filter *query.Filter) (there postings, ok, isKey bool) {
	var room [keyRoom]byte
	key, isKey := x.appendKeyOf(room[:0], filter)
	if !isKey {
		return postings{}, false, false
	}
	there, ok = x.entries.Get(string(key))
	return there, ok, true
}

// at returns up to limit of the documents at some positions.
func (c *content) at(ctx context.Context, there *postings, limit int64) ([]document.Object, error) {
	if err := checkEnded(ctx); err != nil {
		return []document.Object{}, err
	}
	if limit == 1 {
		o, _ := c.documents.Get(there.first)
		return []document.Object{o}, nil
	}
	room := int64(there.count())
	if limit > 0 {
		room = min(room, limit)
	}
	found := make([]document.Object, 0, room)
	var err error
	there.all(func(position uint64) bool {
		if len(found)%checkEvery == checkEvery-1 {
			err = checkEnded(ctx)
		}
		o, _ := c.documents.Get(position)
		found = append(found, o)
		return err == nil && int64(len(found)) < room
	})
	return found, err
}
