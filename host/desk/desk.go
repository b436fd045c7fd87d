package desk

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Type is the type of the desk's channels.
const Type = channel.Desk

// Config configures a Desk. All fields except Store are optional.
type Config struct {
	// Store holds conversations, tickets and agents: the Store of the Runtime. Required.
	Store store.Store
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// KeepFor is the age at which messages and tickets are removed. The default is 90 days; a negative duration
	// keeps them. It should be at most Retention.Assignments of botctx.Config: neither the page nor EraseMember
	// finds a chat whose assignment was removed.
	KeepFor time.Duration
	// Poll is the interval at which the desk looks for changes by other processes while a page is open. The default is
	// a second.
	Poll time.Duration
	// Logger receives lines about failed reads of the store, stored records that cannot be read and are not shown, and
	// failures of other outlets, at warn. By default nothing is logged.
	Logger *slog.Logger
}

// The defaults of Config.
const (
	defaultKeepFor = 90 * 24 * time.Hour
	defaultPoll    = time.Second
)

// Desk is the connector of the channels of type desk. It is safe for concurrent use.
type Desk struct {
	config Config
	env    record.Env
	chats  *chatlog.Log
	// visitors are the chats on web pages, which the desk only reads.
	visitors *chatlog.Log
	hub      *hub
	log      *slog.Logger
	// unreadable logs the errors of stored records. The lists are read after each change.
	unreadable safelog.Once
	// beat is the interval of keep-alive messages on a stream.
	beat time.Duration
	// closing is closed by close.
	closing chan struct{}
	close   func()
}

var (
	_ send.Connector            = (*Desk)(nil)
	_ send.ConversationArchiver = (*Desk)(nil)
	_ send.RecordKeeper         = (*Desk)(nil)
	_ livechat.GroupCreator     = (*Desk)(nil)
	_ livechat.GroupNamer       = (*Desk)(nil)
	_ livechat.TicketUpdater    = (*Desk)(nil)
	_ livechat.TicketRecaller   = (*Desk)(nil)
)

// New returns a Desk. InvalidArgument: Store is missing, or Poll is negative.
func New(config Config) (*Desk, error) {
	if err := absent.Require("Store", "the Store of the Runtime", config.Store); err != nil {
		return nil, err
	}
	if config.Poll < 0 {
		return nil, boterr.Invalid("Poll", "must not be negative; leave it out for the default")
	}
	if config.KeepFor == 0 {
		config.KeepFor = defaultKeepFor
	}
	if config.Poll == 0 {
		config.Poll = defaultPoll
	}
	env := record.Env{Store: config.Store, Now: config.Now}.WithDefaults()
	log := safelog.New(config.Logger)
	chats, err := chatlog.New(chatlog.Config{Env: env, Collection: "desk_chats", Poll: config.Poll, KeepFor: config.KeepFor, Log: log})
	if err != nil {
		return nil, err
	}
	visitors, err := chatlog.New(chatlog.Config{Env: env, Collection: chatlog.Webchat, Poll: config.Poll, Log: log})
	if err != nil {
		return nil, err
	}
	closing := make(chan struct{})
	return &Desk{
		config: config, env: env, chats: chats, visitors: visitors, log: log, hub: newHub(), beat: beat,
		unreadable: safelog.Once{Log: log, Message: "desk: a record is not shown"},
		closing:    closing, close: sync.OnceFunc(func() { close(closing) }),
	}, nil
}

// Close ends all streams, so that a server can shut down. Open pages connect to another process. Other requests continue.
// Close may be called more than once.
func (d *Desk) Close() { d.close() }

// warn logs a failure that the desk works around.
func (d *Desk) warn(ctx context.Context, what string, err error, about ...slog.Attr) {
	d.log.LogAttrs(ctx, slog.LevelWarn, what, append(about, slog.String("error", display.Text(err)))...)
}

// EnsureIndexes creates the indexes that the desk needs in a store, unless they exist. A host calls it once, before it
// uses the store. InvalidArgument: the store is nil. Other errors come from store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	if err := absent.Require("database", "the Store of the Runtime", database); err != nil {
		return err
	}
	for _, wanted := range []struct {
		kind  *record.Schema
		paths []string
	}{
		{conversationSchema, []string{record.FieldApp, fieldAssignment}},
		{conversationSchema, []string{record.FieldCreatedAt}},
		{ticketSchema, []string{record.FieldApp, fieldAssignment}},
		{ticketSchema, []string{record.FieldCreatedAt}},
		{agentSchema, []string{fieldApps, fieldSeenAt}},
		{answerSchema, []string{record.FieldApp, fieldShort}},
	} {
		if err := database.Collection(wanted.kind.Collection).EnsureIndex(ctx, store.Ascending(wanted.paths...)); err != nil {
			return err
		}
	}
	return nil
}

// RemoveOld implements send.RecordKeeper: it removes messages, tickets and conversations that are older than
// Config.KeepFor, but keeps conversations that still have messages. Errors come from the store.
func (d *Desk) RemoveOld(ctx context.Context) error {
	if d.config.KeepFor < 0 {
		return nil
	}
	if _, err := d.chats.RemoveOld(ctx); err != nil {
		return err
	}
	old := record.Removal{
		Filter:   document.O(record.FieldCreatedAt, document.O("$lt", document.TimestampOf(d.env.Now().Add(-d.config.KeepFor)))),
		OldestBy: record.FieldCreatedAt,
	}
	if _, err := record.Open(d.env, ticketSchema).Remove(ctx, old); err != nil {
		return err
	}
	old.Spare = d.withMessages
	_, err := record.Open(d.env, conversationSchema).Remove(ctx, old)
	return err
}

// withMessages returns the ids of the conversations that still have messages. RemoveOld keeps them, because an open
// chat would end without its conversation.
func (d *Desk) withMessages(ctx context.Context, conversations []document.Object) (map[string]bool, error) {
	used := map[string]bool{}
	for _, o := range conversations {
		newest, err := d.chats.Newest(ctx, conversationOf(o).log())
		if err != nil {
			return nil, err
		}
		used[document.Get(o, record.FieldID, "")] = newest > 0
	}
	return used, nil
}

// EraseMember implements send.RecordKeeper: it removes the conversations with a member, the notes in them, and the
// tickets. It finds them by the member's assignments. InvalidArgument: App or ID is missing. Other errors come from
// the store.
func (d *Desk) EraseMember(ctx context.Context, m *member.Member) error {
	if m == nil || m.App == "" || m.ID == "" {
		return boterr.Invalid("member", "needs app and _id; pass the member's record")
	}
	requests, err := d.requests(ctx, m.App, record.Query{Filter: document.O("member", document.O("$eq", m.ID))})
	if err != nil {
		return err
	}
	for _, r := range requests {
		r.App = m.App // A record that cannot be read has only its ID.
		if err := d.eraseRequest(ctx, r); err != nil {
			return err
		}
	}
	d.hub.wake()
	return nil
}

func (d *Desk) eraseRequest(ctx context.Context, r *livechat.AssignmentRecord) error {
	of := document.O(fieldAssignment, document.O("$eq", r.ID))
	made, err := d.conversations(r.App).Find(ctx, record.Query{Filter: of})
	if err != nil {
		return err
	}
	for _, o := range made {
		c := conversationOf(o)
		if _, err := d.chats.Erase(ctx, c.log()); err != nil {
			return err
		}
	}
	sent := []string{} // A ticket without a button does not name the assignment.
	for _, t := range r.Tickets {
		sent = append(sent, idOf(r.App, t.Channel, t.Group.ID, t.MessageID))
	}
	for _, tickets := range []document.Object{of, document.O(record.FieldID, document.O("$in", sent))} {
		if _, err := d.tickets(r.App).Delete(ctx, tickets); err != nil {
			return err
		}
	}
	_, err = d.conversations(r.App).Delete(ctx, of)
	return err
}
