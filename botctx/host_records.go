package botctx

import (
	"context"
	"iter"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
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

// Members returns the members of a selection, as the Store keeps them, in the order of their ids, which is the order
// in which they arrived. Config.Override is not asked.
//
//	for m, err := range rt.Members(ctx, "shop", member.Selection{Channel: "web", Tag: "vip"}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// It reads 100 members at a time, so memory and the time to the first one do not grow with their number. If few have
// the tag, or for a Filter, EnsureMemberIndex makes an index that keeps the others from being read. The id of the last
// member of a page is After of the next. A member who arrives meanwhile may be missing.
//
// An error ends the list. InvalidArgument: Filter is wrong, or Limit is negative. FailedPrecondition: what is stored
// is no member. The other errors are those of the store.
func (r *Runtime) Members(ctx context.Context, app string, chosen member.Selection) iter.Seq2[*member.Member, error] {
	scope := Scope{App: app}
	return r.ownMembers(scope, r.channels(scope)).All(ctx, chosen)
}
