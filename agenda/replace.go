package agenda

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// A replacement takes the place of all agendas of a member and tag, in three steps: it
// reads the greatest number that one of them has, writes its own agenda with the next
// number, and removes all but the last: that with the greatest number, and of several
// with the greatest id. So whatever the clock says, the agenda of the replacement that
// came last stays; two at once may take the same number, and one of them stays. What is
// removed has been replaced by one that is there already: at no time are there none.
// Where a replacement ends halfway, the next one completes it.

// replacement is the place of an agenda among those of its member and tag.
type replacement struct {
	// number is 0 where it was made without replace.
	number int64
	// id is nil where there is no agenda.
	id any
}

// lastOf returns which agenda of a member and tag came last, among those that match.
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

// removeReplaced removes the agendas of a member and tag that have been replaced: those that it has
// read, as long as their numbers are unchanged. For meanwhile a deletion may let the numbers begin
// anew, so that the last agenda has a small one, or an update may have made one of those that it
// has read the last.
func (s *Service) removeReplaced(ctx context.Context, memberID, tag string) error {
	found, err := s.ofMember(memberID, tag).Find(ctx, record.Query{
		SortBy: document.O(fieldReplaces, -1, record.FieldID, -1),
	})
	if err != nil || len(found) == 0 || document.Get(found[0], fieldReplaces, int64(0)) == 0 {
		return err
	}
	replaced := make([]any, 0, len(found))
	for _, o := range found[1:] {
		id, _ := o.Field(record.FieldID)
		number, _ := o.Field(fieldReplaces) // Null where there is none.
		replaced = append(replaced, document.O(record.FieldID, id, fieldReplaces, number))
	}
	if len(replaced) == 0 {
		return nil
	}
	_, err = s.ofMember(memberID, tag).Delete(ctx, document.O("$or", document.A(replaced...)))
	return err
}
