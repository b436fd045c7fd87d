package botctx

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// Scope is the app, channel and member that a Context works for.
type Scope = record.Scope

// InboxOptions says how a Runtime handles what Accept kept, see Config.Inbox. The zero value of each field means
// its default.
type InboxOptions struct {
	// Workers is the number of lanes that Run handles at once. Apps and channels share them: an app may
	// hold half of what other apps leave, and a channel half of what its app may hold and the app's other
	// channels leave, so that whoever comes next finds a worker. One channel alone uses a quarter of them.
	// The default is 64.
	Workers int
	// Poll is the time after which Run looks for events that other processes accepted. The default
	// is a second.
	Poll time.Duration
	// Limit is the number of failures after which an event is a dead letter. The default is 5.
	Limit int
	// Backoff returns the pause after the given number of failures, from 1 on. The default begins
	// with a second and multiplies it by four, up to a minute: a lane whose event fails for ever
	// goes on after 80 seconds. Where the failure says to wait for longer, up to an hour
	// (boterr.RetryAfter), that is the pause.
	Backoff func(failures int) time.Duration
	// MaxPending is the number of events of an app that may wait; beyond it Accept is ResourceExhausted
	// for that app. The bound is approximate: each process counts every ten polls what all have accepted.
	// The default is 100,000; a negative number means no bound.
	MaxPending int
	// AcceptTimeout is for how long Accept waits for a store that does not answer, where its context
	// cannot end by itself, as that of a handler which goes on when the sender hangs up. It may wait twice
	// as long. The default is 10 seconds.
	AcceptTimeout time.Duration
	// Retention is how long the inbox remembers that an event with a Key is done. The default is
	// 30 days; a negative value means for ever.
	Retention time.Duration
	// DeadRetention is how long dead letters are kept after they died. A repeat of one that was removed
	// is a new event. The default is 90 days; a negative value means for ever.
	DeadRetention time.Duration
	// ShutdownTimeout is how long Run waits for what runs, once its context has ended, before it
	// ends the contexts of the runs as well. Then they have 5 seconds. The default is 20 seconds.
	ShutdownTimeout time.Duration
	// Hooks let the host see what happens.
	Hooks InboxHooks
	// Log takes lines about what happens: handled events at debug, failed ones at warn, and dead
	// letters at error. The default is Config.Logger.
	Log *slog.Logger
}

// InboxHooks lets a host see what happens to accepted events: AroundAccept and AroundHandler return what is called
// in the place of Accept and of a run, and Settled is called once the outcome of an attempt is stored.
// backends/otel makes spans and metrics with it.
type InboxHooks = inbox.Hooks

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
