package member

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

// fieldMemberID is the parameter that takes the id of a member.
const fieldMemberID = "memberId"

// Getter gives the members of an app, as Operations do.
type Getter interface {
	// GetMember returns the member of that id in the app, or NotFound.
	GetMember(ctx context.Context, p GetMemberParams) (*Member, error)
}

// ByRecord is the address of a call that takes the member's record as member. The default is
// the scope's own.
func ByRecord(scope record.Scope, given *Member) record.Address {
	named := record.Address{Kind: kind.Name, RecordParameter: "member", Own: scope.Member, MayBeOwn: true}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// ByID is the address of a call that takes the member's id as memberId. The default is the
// scope's own.
func ByID(scope record.Scope, id string) record.Address {
	return record.Address{Kind: kind.Name, IDParameter: fieldMemberID, ID: id, Own: scope.Member, MayBeOwn: true}
}

// ByRecordOrID is the address of a call that takes the member's record as member, or its id as
// memberId. The default is the scope's own.
func ByRecordOrID(scope record.Scope, given *Member, id string) record.Address {
	named := ByRecord(scope, given)
	named.IDParameter, named.ID = fieldMemberID, id
	return named
}

// ByRequiredID is the address of a call that must give the member's id as memberId.
func ByRequiredID(id string) record.Address {
	return record.Address{Kind: kind.Name, IDParameter: fieldMemberID, ID: id}
}

// Load returns the member that an address names, as it is stored.
//
// InvalidArgument: the call names no member, or two. NotFound: the app has no such member.
func Load(ctx context.Context, from Getter, named record.Address) (*Member, error) {
	return record.Load(named, func(id string) (*Member, error) { return Get(ctx, from, id) })
}

// Get returns the member of an id, or NotFound: always one of the two.
func Get(ctx context.Context, from Getter, id string) (*Member, error) {
	m, err := from.GetMember(ctx, GetMemberParams{MemberID: id})
	return record.Found(kind.Name, id, m, err)
}

// RequireExternalID returns the member's id on its platform, or FailedPrecondition.
func (m *Member) RequireExternalID() (string, error) {
	if m.ExternalID == "" {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the member %s has no externalId, by which its platform would know it", m.ID)
	}
	return m.ExternalID, nil
}

// RequireChannel returns InvalidArgument for a member of another channel.
func (m *Member) RequireChannel(id string) error {
	if m.Channel != id {
		return boterr.Invalid("", "the member %s is in the channel %s, and not in %s: name the member's own channel", m.ID, m.Channel, id)
	}
	return nil
}
