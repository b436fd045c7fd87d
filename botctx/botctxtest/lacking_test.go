package botctxtest_test

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// nothing is an implementation that offers no operation.
func nothing() botctx.Operations { return botctx.OverCall(unsupported{}) }

// unsupported is a door behind which there is nothing.
type unsupported struct{}

func (unsupported) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, boterr.New(boterr.Unsupported, "", "there is nothing here")
}

// membersAlone offers the operations on members: what it embeds directly comes before what the
// others embed.
type membersAlone struct {
	member.Operations
	others
}

type others struct{ botctx.Operations }

// sendingOnlyOn returns a harness that answers Unsupported where something is sent on the
// platforms that are not offered.
func sendingOnlyOn(offered []channel.Type) *botctxtest.Harness {
	types := map[string]channel.Type{}
	h := newHarness(func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		through := call.Context.Scope().Channel
		if p, ok := call.Params.(send.SendResponseParams); ok && p.ChannelID != "" {
			through = p.ChannelID
		}
		specified, _ := operations.ByName(string(call.Op))
		if specified.Package == "send" && types[through] != "" && !slices.Contains(offered, types[through]) {
			return nil, boterr.New(boterr.Unsupported, "", "there is no connector")
		}
		return next(ctx)
	})
	add := h.AddChannel
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		stored := add(c)
		types[stored.ID] = stored.Type
		return stored
	}
	return h
}
