package botctx

import (
	"context"
	"encoding/json"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
)

// inForce is how the SDK's own parts reach those of other domains: whatever is in force when it
// is called, so that they work with what the host has put in their place.
type inForce struct{ parts *parts }

// GetChannel is that of channel.Operations.
func (f inForce) GetChannel(ctx context.Context, p channel.GetChannelParams) (*channel.Reference, error) {
	return f.parts.channels().GetChannel(ctx, p)
}

// GetMember is that of member.Operations.
func (f inForce) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
	return f.parts.members().GetMember(ctx, p)
}

// PatchMembers is that of member.Operations.
func (f inForce) PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error) {
	return f.parts.members().PatchMembers(ctx, p)
}

// NewAgenda is that of agenda.Operations.
func (f inForce) NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error) {
	return f.parts.agendas().NewAgenda(ctx, p)
}

// DeleteMemberAgenda is that of agenda.Operations.
func (f inForce) DeleteMemberAgenda(
	ctx context.Context, p agenda.DeleteMemberAgendaParams,
) (agenda.DeleteMemberAgendaResult, error) {
	return f.parts.agendas().DeleteMemberAgenda(ctx, p)
}

// failing is a door through which every operation fails.
type failing struct{ err error }

// Call implements Caller.
func (f failing) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, f.err
}

// partsOf returns all domains over a door.
func partsOf(door Caller) Parts {
	all := OverCall(door)
	return Parts{
		Channels: all, Members: all, DataSources: all, Agendas: all,
		LiveChats: all, Sends: all, Nodes: all, Utilities: all,
	}
}
