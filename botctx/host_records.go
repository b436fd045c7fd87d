package botctx

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
)

// Scope is the app, channel and member that a Context works for.
type Scope = record.Scope

// InboxConfig says how a Runtime handles what Accept kept, see Config.Inbox.
type InboxConfig = inbox.Config

// SaveChannel stores a channel of an app and returns it as stored: with an ID if it had none, with App,
// CreatedAt, UpdatedAt, Version and Etag. It replaces the channel with the same ID. If c has an Etag, it must be
// the stored channel's, or SaveChannel fails with Conflict, or with NotFound if there is no such channel.
//
// InvalidArgument: Type is missing, Info does not belong to Type, or a credential in it was redacted when c was
// read. AlreadyExists: another app has a channel with this ID.
func (r *Runtime) SaveChannel(ctx context.Context, app string, c *channel.Channel) (*channel.Channel, error) {
	return channels.New(r.env, Scope{App: app}).Save(ctx, c)
}

// LoadChannel returns a channel of an app with its credentials, as Config.LoadChannel does by default.
// NotFound: the app has no such channel.
func (r *Runtime) LoadChannel(ctx context.Context, app, id string) (*channel.Channel, error) {
	return channels.New(r.env, Scope{App: app}).Load(ctx, id)
}

// Pair sets which outlets an inlet is paired with, in the order in which they are asked, and replaces the outlets
// set before. Without outlets the inlet is unpaired.
//
// InvalidArgument: an outlet comes twice or is the inlet. NotFound: the app has no such channel. Nothing is stored
// then.
func (r *Runtime) Pair(ctx context.Context, app, inlet string, outlets ...string) error {
	return channels.New(r.env, Scope{App: app}).Pair(ctx, inlet, outlets...)
}

// Pairing returns which outlets an inlet is paired with: none if nothing was set.
func (r *Runtime) Pairing(ctx context.Context, app, inlet string) (*channel.Pairing, error) {
	return channels.New(r.env, Scope{App: app}).Pairing(ctx, inlet)
}
