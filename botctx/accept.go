package botctx

import (
	"context"
	"crypto/sha256"
	"encoding/base64"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Accept keeps what arrived in the store, and returns when that is durable: then the platform may be
// told that it need not send it again. Run, of this Runtime or of another one on the store, does with
// it what Receive does, in the order in which what the sender sent was accepted; see package inbox for
// what holds where runs fail and processes die.
//
// A Runtime without logic, see Handle and HandleFunc, runs nothing of it: it waits.
//
// An event with a Key or a MessageID that the platform repeats is accepted, and not run again, until
// Config.Inbox.Retention after it was done. Events without one get none of that: each is run.
//
// In a run that is tried again, what an attempt before has sent, mailed, uploaded, charged or asked a
// platform for is not done again: the answer of then is given. It is known by its key, see
// Context.SendID, and but for what was under way when a process died; that is known to who receives it,
// by the same key.
//
// InvalidArgument: the app, the channel or the event's sender is missing, the event's type is one of those of
// package send in other letters, such as "text", or the event goes elsewhere
// than to its group. ResourceExhausted: too many events wait, see Config.Inbox.MaxPending: the
// platform is to send it again later. The other errors are those of the store; whether the event was
// kept is not known then.
func (r *Runtime) Accept(ctx context.Context, inbound Inbound) (err error) {
	defer func() {
		in := record.Scope{App: inbound.App, Channel: inbound.Channel}
		err = r.orPanic(ctx, place{scope: in}, err, recover())
	}()
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	if err := inbound.check(); err != nil {
		return err
	}
	key := fixed(eventKey(inbound)) // Without the time of arrival, which each repetition has another of.
	body, err := inbound.at(r.env.Now()).document()
	if err != nil {
		return err
	}
	_, err = r.inbox.Accept(ctx, inbox.Event{
		App: inbound.App, Channel: inbound.Channel, From: inbound.Event.From, Key: key, Body: body,
	})
	return err
}

// maxEventKey is the length from which on the key of an event is replaced by a hash.
const maxEventKey = 256

// fixed returns a key of bounded length: a hash of a long one, which does not grow with what arrived.
func fixed(key string) string {
	if len(key) <= maxEventKey {
		return key
	}
	hash := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// Inbox returns what keeps what was accepted: for its dead letters, its load, and for a host that drives
// it by itself, such as in virtual time.
func (r *Runtime) Inbox() *inbox.Inbox { return r.inbox }

// newInbox returns the inbox of a Runtime.
func (r *Runtime) newInbox(env record.Env) (*inbox.Inbox, error) {
	config := inbox.Config{
		Env: env, DeriveID: r.config.DeriveID, Turns: r.turns, Handler: r.runAccepted, Enter: r.enterLane,
		Options: inbox.Options(r.config.Inbox),
	}
	if config.Log == nil {
		config.Log = r.config.Logger
	}
	made, err := inbox.New(config)
	return made, boterr.PrefixField("Inbox", err)
}

// The fields of an Inbound as the inbox keeps it.
const (
	fieldEvent   = "event"
	fieldGroup   = "groupExternalId"
	fieldProfile = "profile"
	fieldKey     = "key"
)

// document returns what arrived as the inbox keeps it.
func (i Inbound) document() (document.Object, error) {
	event, err := document.Encode(i.Event)
	if err != nil {
		return document.Object{}, boterr.PrefixField("Event", err)
	}
	profile, err := document.Encode(i.Profile)
	if err != nil {
		return document.Object{}, boterr.PrefixField("Profile", err)
	}
	return document.O(fieldEvent, event, fieldGroup, i.GroupExternalID, fieldProfile, profile, fieldKey, i.Key), nil
}

// inboundOf returns what arrived of an event of the inbox.
func inboundOf(e inbox.Event) (Inbound, error) {
	arrived := Inbound{App: e.App, Channel: e.Channel, GroupExternalID: document.Get(e.Body, fieldGroup, "")}
	arrived.Key = document.Get(e.Body, fieldKey, "")
	var event send.MessageEvent
	if err := document.Decode(document.Get(e.Body, fieldEvent, document.O()), &event); err != nil {
		return arrived, boterr.PrefixField("Event", err)
	}
	var profile member.Member
	if err := document.Decode(document.Get(e.Body, fieldProfile, document.O()), &profile); err != nil {
		return arrived, boterr.PrefixField("Profile", err)
	}
	arrived.Event, arrived.Profile = event, profile
	return arrived, nil
}

// runAccepted is the handler of the inbox.
func (r *Runtime) runAccepted(ctx context.Context, d *inbox.Delivery) (err error) {
	defer func() {
		err = r.orPanic(ctx, place{scope: record.Scope{App: d.Event.App, Channel: d.Event.Channel}}, err, recover())
	}()
	arrived, err := inboundOf(d.Event)
	if err != nil {
		return err
	}
	return forInbox(r.receive(ctx, arrived, d))
}
