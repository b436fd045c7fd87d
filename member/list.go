package member

import (
	"context"
	"iter"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
)

// Selection says which members All returns. The zero Selection is all members of the app.
type Selection struct {
	// Channel is the id of the members' channel. The default is every channel of the app.
	Channel string
	// Tag is a text among the tags of the members. The default is any tags or none. For tags that are
	// objects, give a Filter such as document.O("tags.name", "vip").
	Tag string
	// Filter is what else holds for the members; it names the JSON fields of Member. The default is nothing.
	Filter document.Object
	// After is the id of a member: the list begins with the next one. The default is the first member.
	After string
	// Limit is the number of members to return at most. The default is 0, for all.
	Limit int
}

// listed is the number of members that All reads at once.
const listed = 100

// All returns the members of a selection, in the order of their ids, which is the order in which they arrived. It is
// for hosts.
//
//	for m, err := range members.All(ctx, member.Selection{Channel: "web", Tag: "vip"}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// It reads 100 members at a time, so memory and the time to the first one do not grow with their number. For a tag that few
// have, or a Filter, EnsureIndex makes an index that keeps the others from being read. The id of the last member of a page is After of the
// next. A member who arrives meanwhile may be missing.
//
// An error ends the list. InvalidArgument: Filter is wrong, or Limit is negative. FailedPrecondition: what is stored is no
// member. The other errors are those of the store.
func (s *Service) All(ctx context.Context, chosen Selection) iter.Seq2[*Member, error] {
	return func(yield func(*Member, error) bool) {
		if err := chosen.check(); err != nil {
			yield(nil, err)
			return
		}
		rest := chosen // The list can be read again.
		for hasMore := true; hasMore; {
			var found []*Member
			var err error
			if found, hasMore, err = s.page(ctx, &rest); err != nil {
				yield(nil, err)
				return
			}
			for _, m := range found {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// page returns the next members of a selection, which becomes that of the rest, and whether there may be more.
func (s *Service) page(ctx context.Context, chosen *Selection) (found []*Member, hasMore bool, err error) {
	size := listed
	if chosen.Limit > 0 {
		size = min(size, chosen.Limit)
	}
	found, err = s.Find(ctx, record.Query{
		Filter: chosen.filter(), SortBy: document.O(record.FieldID, 1), Limit: int64(size),
	})
	if err != nil || len(found) < size {
		return found, false, err
	}
	chosen.After = found[size-1].ID
	if chosen.Limit == 0 {
		return found, true, nil
	}
	chosen.Limit -= size
	return found, chosen.Limit > 0, nil
}

// check refuses a selection that no member can be in.
func (s Selection) check() error {
	if s.Limit < 0 {
		return boterr.Invalid("limit", "must not be negative, got %d", s.Limit)
	}
	_, err := query.CompileFilter(s.Filter)
	return boterr.PrefixField("filter", err)
}

// filter returns the condition of the members that follow.
func (s Selection) filter() document.Object {
	filter := document.O()
	if s.Channel != "" {
		filter = filter.With(record.FieldChannel, document.O("$eq", s.Channel))
	}
	if s.Tag != "" {
		filter = filter.With(fieldTags, document.O("$eq", s.Tag))
	}
	if s.After != "" {
		filter = filter.With(record.FieldID, document.O("$gt", s.After))
	}
	if !s.Filter.IsZero() {
		filter = filter.With("$and", document.A(s.Filter))
	}
	return filter
}
