package send

import (
	"context"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// recipient is a member that a call names.
type recipient struct {
	id string
	// field is the parameter that names it.
	field string
	// isOwn is whether the call names nobody, so that the scope's own member is meant.
	isOwn bool
}

// recipients returns the members that a call names, each once: those given, or the
// scope's own. There is at least one.
func (s *Service) recipients(given *member.Member, ids document.OneOrMany[string]) ([]recipient, error) {
	switch {
	case given == nil && ids == nil:
		return s.ownMember()
	case given == nil:
		return distinctRecipients(ids)
	case given.ID == "":
		return nil, boterr.Invalid("member._id", "is missing: it is what a member is found by")
	case slices.ContainsFunc(ids, func(id string) bool { return id != given.ID }):
		return nil, boterr.Invalid("memberId", "names another member than member, which is %q: give one of both", given.ID)
	case ids != nil && len(ids) == 0:
		return distinctRecipients(ids)
	default:
		return []recipient{{id: given.ID, field: "member"}}, nil
	}
}

func (s *Service) ownMember() ([]recipient, error) {
	if s.scope.Member == "" {
		return nil, boterr.Invalid("memberId", "is missing: this context has no member of its own")
	}
	return []recipient{{id: s.scope.Member, field: "memberId", isOwn: true}}, nil
}

// distinctRecipients returns the members of a list in the order in which it first names them.
func distinctRecipients(ids []string) ([]recipient, error) {
	if len(ids) == 0 {
		return nil, boterr.Invalid("memberId", "names nobody: give at least one id, or leave it out for the context's own member")
	}
	seen := make(map[string]bool, len(ids))
	recipients := make([]recipient, 0, len(ids))
	for i, id := range ids {
		field := "memberId"
		if len(ids) > 1 {
			field += "[" + strconv.Itoa(i) + "]"
		}
		if id == "" {
			return nil, boterr.Invalid(field, "is empty: give a member's id")
		}
		if !seen[id] {
			seen[id] = true
			recipients = append(recipients, recipient{id: id, field: field})
		}
	}
	return recipients, nil
}

// recipientOf returns the member that a call names by a record alone, or the scope's own.
func (s *Service) recipientOf(given *member.Member) (recipient, error) {
	switch {
	case given == nil && s.scope.Member == "":
		return recipient{}, boterr.Invalid("member", "is missing: this context has no member of its own")
	case given == nil:
		return recipient{id: s.scope.Member, field: "member"}, nil
	case given.ID == "":
		return recipient{}, boterr.Invalid("member._id", "is missing: it is what a member is found by")
	default:
		return recipient{id: given.ID, field: "member"}, nil
	}
}

// loadMember returns the member as it is stored, which must be in the channel.
func (s *Service) loadMember(ctx context.Context, in *channel.Channel, r recipient) (*member.Member, error) {
	m, err := s.getMember(ctx, r.id)
	if err != nil {
		return nil, boterr.At(r.field, err)
	}
	if m.Channel != in.ID {
		return nil, boterr.Invalid(r.field, "the member %s is in the channel %q, and the call is for the channel %q: name the member's own",
			r.id, m.Channel, in.ID)
	}
	return m, nil
}

// getMember returns a member of the app.
func (s *Service) getMember(ctx context.Context, id string) (*member.Member, error) {
	m, err := s.ports.Members.GetMember(ctx, member.GetMemberParams{MemberID: id})
	if err == nil && m == nil {
		return nil, boterr.New(boterr.NotFound, "", "there is no member %.40q in this app", id)
	}
	return m, err
}

// externalIDOf returns a member's id on its platform.
func externalIDOf(m *member.Member) (string, error) {
	if m.ExternalID == "" {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the member %s has no externalId, by which its platform would know it", m.ID)
	}
	return m.ExternalID, nil
}
