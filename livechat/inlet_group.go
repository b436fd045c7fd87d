package livechat

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// A member who asks for a person in a group is answered in that group. The assignment keeps
// the group as its inletGroupInfo, and the conversation with the agent takes it over.

// inletGroupInfo is what is known of a group on the inlet's side, nothing for "".
func inletGroupInfo(externalID string) document.Object {
	if externalID == "" {
		return document.Object{}
	}
	return document.O(fieldExternalID, externalID)
}

// inletGroup returns the id on the platform of the group on the inlet's side, "" where the
// member is alone with who answers.
func (r *AssignmentRecord) inletGroup() string {
	return document.Get(r.InletGroupInfo, fieldExternalID, "")
}

// groupOfAsking returns the id on the platform of the group in which a member asks: that of
// the scope, where the member is the scope's own.
func (s *Service) groupOfAsking(m *member.Member) string {
	if m.ID != s.scope.Member {
		return ""
	}
	return s.scope.GroupExternalID
}

// IsAskedHere reports whether what a member writes in the scope's group, or to the
// bot alone, belongs to the request that is open: whether the request was made there. Without
// an open one it is true, since nothing says where the live chat is. It is for hosts, which
// relay no message from elsewhere to the agent.
func (s *Service) IsAskedHere(ctx context.Context, memberID string) (_ bool, err error) {
	defer s.guard(ctx, &err)
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil || r.inletGroup() == s.scope.GroupExternalID {
		return err == nil, err
	}
	if r.Group == "" {
		return false, nil
	}
	g, err := s.loadGroup(ctx, r.Group)
	return err == nil && g.InletGroupExternalID == s.scope.GroupExternalID, err
}
