package agendas

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// A replacement takes the place of the open agendas of a member and tag, in three steps: it reads the
// greatest number that one of them has, writes its own agenda with the next number, and removes all but
// the last: the one with the greatest number, and of several with that number the one with the greatest
// id. So the agenda of the replacement that came last stays, whatever the clock says. Two at once may
// take the same number, and one of them stays. An agenda is removed only once the one that replaces it is
// there, so there is always one. If a replacement ends halfway, the next one completes it.

// replacement is the place of an agenda among the open ones of its member and tag.
type replacement struct {
	// number is 0 if it was made without replace.
	number int64
	// id is nil if there is no agenda.
	id any
}

// lastOf returns which of the open agendas of a member and tag that match came last.
func (s *Service) lastOf(ctx context.Context, memberID, tag string, filter document.Object) (replacement, error) {
	found, err := s.ofMember(memberID, tag).Find(ctx, record.Query{
		Filter: filter,
		SortBy: document.O(fieldReplaces, -1, record.FieldID, -1),
		Limit:  1,
	})
	if err != nil || len(found) == 0 {
		return replacement{}, err
	}
	id, _ := found[0].Field(record.FieldID)
	return replacement{number: document.Get(found[0], fieldReplaces, int64(0)), id: id}, nil
}

// removeReplaced removes the open agendas of a member and tag that have been replaced. It removes those
// that it read, if their numbers are unchanged: a deletion meanwhile may let the numbers begin anew, so
// that the last agenda has a small one, and an update may have made one of those that it read the last.
func (s *Service) removeReplaced(ctx context.Context, memberID, tag string) error {
	found, err := s.ofMember(memberID, tag).Find(ctx, record.Query{
		Filter: openFilter(tag),
		SortBy: document.O(fieldReplaces, -1, record.FieldID, -1),
	})
	if err != nil || len(found) == 0 || document.Get(found[0], fieldReplaces, int64(0)) == 0 {
		return err
	}
	// The work of a deletion is its conditions times its documents, so it is done in parts.
	for part := range slices.Chunk(found[1:], record.RemovalBatch) {
		ids, unchanged := make([]any, len(part)), make([]any, len(part))
		for i, o := range part {
			ids[i], _ = o.Field(record.FieldID)
			number, _ := o.Field(fieldReplaces) // Null if there is none.
			unchanged[i] = document.O(record.FieldID, ids[i], fieldReplaces, number)
		}
		which := document.O(record.FieldID, document.O("$in", document.A(ids...)), "$or", document.A(unchanged...))
		if _, err := s.ofMember(memberID, tag).Delete(ctx, which); err != nil {
			return err
		}
	}
	return nil
}
