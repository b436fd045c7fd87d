package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// recipients returns the members that a call names, each once, in the order in which it first
// names them, or the scope's own. There is at least one. One alone stands in room.
func (s *Service) recipients(
	given *member.Member, ids document.OneOrMany[string], room []record.Address,
) ([]record.Address, error) {
	if ids == nil {
		only := members.ByRecordOrID(s.scope, given, "")
		_, err := only.Resolve()
		return append(room, only), err
	}
	if len(ids) == 0 {
		return nil, boterr.Invalid("memberId", "names nobody: give at least one id, or leave it out for the context's own member")
	}
	seen := make(map[string]bool, len(ids))
	recipients := make([]record.Address, 0, len(ids))
	for i, id := range ids {
		named := members.ByRecordOrID(s.scope, given, id)
		if len(ids) > 1 {
			named.IDParameter += boterr.Index(i)
		}
		if id == "" {
			return nil, boterr.Invalid(named.IDParameter, "is empty: give a member's id")
		}
		if _, err := named.Resolve(); err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			recipients = append(recipients, named)
		}
	}
	return recipients, nil
}

// loadMember returns the member as it is stored, which must be in the channel.
func (s *Service) loadMember(ctx context.Context, in *channel.Channel, named record.Address) (*member.Member, error) {
	m, err := members.Load(ctx, s.ports.Members, named)
	if err != nil {
		return nil, err
	}
	if err := m.RequireChannel(in.ID); err != nil {
		return nil, boterr.WithField(named.Field(), err)
	}
	return m, nil
}
