package livechat

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
)

// missing stands in for a required port that the host has not given, by the port's name: each of its methods is
// FailedPrecondition.
type missing string

func (m missing) err() error {
	return boterr.New(boterr.FailedPrecondition, "", "livechat.New was given no Ports.%s, which is required", string(m))
}

// withStandIns returns the ports with stand-ins for those that are required and nil.
func (p Ports) withStandIns() Ports {
	if p.Members == nil {
		p.Members = missing("Members")
	}
	if p.Channels == nil {
		p.Channels = missing("Channels")
	}
	if p.Pairing == nil {
		p.Pairing = func(context.Context, string) ([]string, error) { return nil, missing("Pairing").err() }
	}
	if p.Agendas == nil {
		p.Agendas = missing("Agendas")
	}
	return p
}

// GetMember implements Members.
func (m missing) GetMember(context.Context, member.GetMemberParams) (*member.Member, error) {
	return nil, m.err()
}

// PatchMembers implements Members.
func (m missing) PatchMembers(context.Context, member.PatchMembersParams) (member.PatchMembersResult, error) {
	return member.PatchMembersResult{}, m.err()
}

// Load implements channel.Loader.
func (m missing) Load(context.Context, string) (*channel.Channel, error) { return nil, m.err() }

// NewAgenda implements Agendas.
func (m missing) NewAgenda(context.Context, agenda.NewAgendaParams) (*agenda.Agenda, error) {
	return nil, m.err()
}

// DeleteMemberAgenda implements Agendas.
func (m missing) DeleteMemberAgenda(context.Context, agenda.DeleteMemberAgendaParams) (agenda.DeleteMemberAgendaResult, error) {
	return agenda.DeleteMemberAgendaResult{}, m.err()
}
