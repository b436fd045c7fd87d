package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
)

// The desk's records.
var (
	conversationSchema = &record.Schema{Name: "conversation", Collection: "desk_conversations", Stamps: []string{record.FieldCreatedAt}}
	ticketSchema       = &record.Schema{Name: "ticket", Collection: "desk_tickets", Stamps: []string{record.FieldCreatedAt}}
	agentSchema        = &record.Schema{Name: "agent", Collection: "desk_agents"}
	answerSchema       = &record.Schema{Name: "canned answer", Collection: "desk_answers", Stamps: []string{record.FieldUpdatedAt}}
)

// The fields of the records.
const (
	fieldAssignment = "assignment"
	fieldName       = "name"
	fieldIsArchived = "isArchived"
	fieldTo         = "to"
	fieldMessage    = "message"
	fieldResponse   = "response"
	fieldShown      = "shown"
	fieldIsRecalled = "isRecalled"
	fieldApps       = "apps"
	fieldSeenAt     = "seenAt"
	fieldAvailable  = "isAvailable"
	fieldShort      = "short"
	fieldText       = "text"
)

// conversation is a recipient of messages: a conversation with a member, or a team that was archived.
type conversation struct {
	id, app, channel, name string
	isArchived             bool
}

func (d *Desk) conversations(app string) *record.Collection {
	return record.OfApp(d.env, conversationSchema, app)
}

func conversationOf(o document.Object) conversation {
	return conversation{
		id: document.Get(o, fieldTo, ""), app: document.Get(o, record.FieldApp, ""), channel: document.Get(o, record.FieldChannel, ""),
		name: document.Get(o, fieldName, ""), isArchived: document.Get(o, fieldIsArchived, false),
	}
}

// log returns the conversation's name in the log of messages.
func (c conversation) log() chatlog.Conversation {
	return chatlog.Conversation{App: c.app, Channel: c.channel, ID: c.id}
}

// idOf returns an id for parts: always the same for the same parts, and different for different ones.
func idOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = sum.Write([]byte(strconv.Quote(part))) // A hash accepts any input.
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// conversation returns the conversation with an id in a channel, and reports whether there is one.
func (d *Desk) conversation(ctx context.Context, app, channelID, id string) (conversation, bool, error) {
	found, err := d.conversations(app).Get(ctx, idOf(app, channelID, id))
	if boterr.CodeOf(err) == boterr.NotFound {
		return conversation{}, false, nil
	}
	return conversationOf(found), err == nil, err
}

func (d *Desk) tickets(app string) *record.Collection { return record.OfApp(d.env, ticketSchema, app) }

func (d *Desk) agents() *record.Collection { return record.Open(d.env, agentSchema) }

// presence is an agent as other agents see them.
type presence struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	IsAvailable bool   `json:"isAvailable"`
	// IsHere is true if the agent has the page open.
	IsHere bool `json:"isHere"`
	// Apps are the ids of the agent's apps. Other agents see only apps that they have, too.
	Apps []string `json:"apps"`
}

// awayAfter is the age of an agent's last sign of life, in milliseconds, from which the agent counts as away.
const awayAfter = 60_000

func presenceOf(o document.Object, now document.Timestamp) presence {
	p := presence{
		ID: document.Get(o, record.FieldID, ""), Name: document.Get(o, fieldName, ""), IsAvailable: document.Get(o, fieldAvailable, false),
		IsHere: document.Timestamp(document.Get(o, fieldSeenAt, int64(0))) > now-awayAfter,
	}
	for _, app := range document.Get(o, fieldApps, document.Array{}).All() {
		id, _ := app.(string)
		p.Apps = append(p.Apps, id)
	}
	return p
}

// saveAgent stores an agent's name and apps, and the current time as the last sign of life. A new agent is available.
func (d *Desk) saveAgent(ctx context.Context, a Agent) error {
	set := document.O(fieldName, a.Name, fieldApps, a.Apps, fieldSeenAt, d.now())
	_, err := d.agents().Update(ctx, record.Patch{
		Filter: document.O(record.FieldID, document.O("$eq", a.ID)), WithModifier: true, Upsert: true,
		Patch: document.O("$set", set, "$setOnInsert", document.O(fieldAvailable, true)),
	})
	return err
}

// setAgent sets a field of an agent's record.
func (d *Desk) setAgent(ctx context.Context, id, field string, value any) error {
	_, err := d.agents().Update(ctx, record.Patch{
		Filter: document.O(record.FieldID, document.O("$eq", id)), Patch: document.O(field, value),
	})
	return err
}

// hasAgent reports whether an app has an agent who has opened the page before.
func (d *Desk) hasAgent(ctx context.Context, app, id string) (bool, error) {
	found, err := d.agents().Find(ctx, record.Query{
		Filter: document.O(record.FieldID, document.O("$eq", id), fieldApps, document.O("$eq", app)), Limit: 1,
	})
	return len(found) > 0, err
}

func (d *Desk) now() document.Timestamp { return document.TimestampOf(d.env.Now()) }
