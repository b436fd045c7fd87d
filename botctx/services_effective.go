package botctx

import (
	"context"
	"encoding/json"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
)

// effective is how the SDK's own services reach those of other domains: the ones in use when it
// is called, so that they work with what the host has put in their place.
type effective struct{ services *services }

// GetChannel is that of channel.Operations.
func (f effective) GetChannel(ctx context.Context, p channel.GetChannelParams) (*channel.Reference, error) {
	return f.services.channels().GetChannel(ctx, p)
}

// GetMember is that of member.Operations.
func (f effective) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
	return f.services.members().GetMember(ctx, p)
}

// PatchMembers is that of member.Operations.
func (f effective) PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error) {
	return f.services.members().PatchMembers(ctx, p)
}

// NewAgenda is that of agenda.Operations.
func (f effective) NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error) {
	return f.services.agendas().NewAgenda(ctx, p)
}

// DeleteMemberAgenda is that of agenda.Operations.
func (f effective) DeleteMemberAgenda(
	ctx context.Context, p agenda.DeleteMemberAgendaParams,
) (agenda.DeleteMemberAgendaResult, error) {
	return f.services.agendas().DeleteMemberAgenda(ctx, p)
}

// failing is a door through which every operation fails.
type failing struct{ err error }

// Call implements Caller.
func (f failing) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, f.err
}

// servicesOf returns all domains over a door.
func servicesOf(door Caller) Services {
	all := FromCaller(door)
	return Services{
		Channels: all, Members: all, DataSources: all, Agendas: all,
		LiveChats: all, Sends: all, Nodes: all, Utilities: all,
	}
}
