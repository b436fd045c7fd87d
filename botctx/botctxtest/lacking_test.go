package botctxtest_test

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// nothing is an implementation that offers no operation.
func nothing() botctx.Operations { return botctx.OverCall(unsupported{}) }

// unsupported is a door behind which there is nothing.
type unsupported struct{}

func (unsupported) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, boterr.New(boterr.Unsupported, "", "there is nothing here")
}

// membersAlone offers the operations on members.
type membersAlone struct {
	botctx.Operations

	whole botctx.Operations
}

func (m membersAlone) GetMember(ctx context.Context, p member.GetMemberParams) (*member.Member, error) {
	return m.whole.GetMember(ctx, p)
}

func (m membersAlone) FindAndModifyMember(
	ctx context.Context, p member.FindAndModifyMemberParams,
) (member.FindAndModifyMemberResult, error) {
	return m.whole.FindAndModifyMember(ctx, p)
}

func (m membersAlone) PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error) {
	return m.whole.PatchMembers(ctx, p)
}

func (m membersAlone) UpdateMember(ctx context.Context, p member.UpdateMemberParams) (member.UpdateMemberResult, error) {
	return m.whole.UpdateMember(ctx, p)
}

func (m membersAlone) CheckAndSaveMemberReferFrom(
	ctx context.Context, p member.CheckAndSaveMemberReferFromParams,
) (*member.Member, error) {
	return m.whole.CheckAndSaveMemberReferFrom(ctx, p)
}

// sendingOnlyOn makes a harness answer Unsupported on the platforms that are not
// offered.
func sendingOnlyOn(h *botctxtest.Harness, offered []channel.Type) *botctxtest.Harness {
	types := map[string]channel.Type{}
	whole, add := h.Operations, h.AddChannel
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		stored := add(c)
		types[stored.ID] = stored.Type
		return stored
	}
	h.Operations = func(scope record.Scope) botctx.Operations {
		return onlyOn{whole(scope), func(id string) bool {
			return types[id] == "" || slices.Contains(offered, types[id])
		}}
	}
	return h
}

// onlyOn sends through some channels.
type onlyOn struct {
	botctx.Operations

	sends func(channelID string) bool
}

func (o onlyOn) SendResponse(ctx context.Context, p send.SendResponseParams) (send.SendResponseResult, error) {
	if !o.sends(p.ChannelID) {
		return send.SendResponseResult{}, boterr.Wrap(string(botctx.OpSendResponse), boterr.New(boterr.Unsupported, "", "no connector"))
	}
	return o.Operations.SendResponse(ctx, p)
}
