package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Assignment is the record of a request for live chat, as operations show it.
//
// As a parameter of an operation it is an address: the record with its ID is loaded
// again within the app, and what else it holds is not looked at.
type Assignment struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// Version counts the changes, from 1 on.
	Version int64 `json:"_version,omitzero"`
	// App is the app that it belongs to.
	App string `json:"app,omitzero"`
	// AssignedAt is when an agent took it, Assignee the agent's id on the outlet's
	// platform. Both are absent before.
	AssignedAt document.Timestamp `json:"assignedAt,omitzero"`
	Assignee   string             `json:"assignee,omitzero"`
	// CreatedAt is when the record was made, UpdatedAt when it last changed.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Etag changes with every change.
	Etag string `json:"etag,omitzero"`
	// Expiry is when it ends for being idle, in Unix milliseconds. 0 where that is not
	// watched.
	Expiry document.Timestamp `json:"expiry,omitzero"`
	// Group is the id of the outlet's group, GroupInfo what is known of it: its
	// externalId, name and type, and the bravoGroupId of one on Bravo.
	Group     string          `json:"group,omitzero"`
	GroupInfo document.Object `json:"groupInfo,omitzero"`
	// History is whether the address of the conversation's history went with the request.
	History bool `json:"history"`
	// IsZendesk is whether a Foxtrot channel has it.
	IsZendesk bool `json:"isZendesk"`
	// Inlet is the id of the member's channel.
	Inlet string `json:"inlet,omitzero"`
	// InletGroupInfo is what is known of the group on the inlet side, where the
	// conversation there is one: its externalId.
	InletGroupInfo document.Object `json:"inletGroupInfo,omitzero"`
	// Member is the id of the member.
	Member string `json:"member,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// ParentAssignment is the id of the assignment that this one was reassigned from.
	ParentAssignment string `json:"parentAssignment,omitzero"`
	// RelayMessage is, by platform, the ticket or the first message of the conversation.
	RelayMessage document.Object `json:"relayMessage,omitzero"`
	// Targets are where the request went.
	Targets []Target `json:"targets"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the assignment with its unknown fields.
func (a Assignment) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// String returns the assignment as JSON with readable times and without credentials, for logs and failures of tests.
func (a Assignment) String() string { return document.Text(a) }

// GoString is String, for failures of tests.
func (a Assignment) GoString() string { return a.String() }

// UnmarshalJSON reads an assignment and keeps unknown fields.
func (a *Assignment) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }

// AssignmentRecord is an assignment as the store keeps it: with its tickets, and with its
// progress, by which it goes on after a crash. Operations show the Assignment in it.
type AssignmentRecord struct {
	Assignment
	Progress

	// Label is the label of the broadcast groups that got the request.
	Label string `json:"label,omitzero"`
	// Summary is what is sent to who takes it, GroupName the name of the conversation,
	// and TakenMessage what the other tickets show then, "" for the default.
	Summary      string `json:"summary,omitzero"`
	GroupName    string `json:"groupName,omitzero"`
	TakenMessage string `json:"takenMessage,omitzero"`
	// Details are the assignmentDetails as they were given, for custom outlets.
	Details document.Object `json:"details,omitzero"`
	// CreateGroup asks a custom outlet for a group. nil where it is not asked.
	CreateGroup *CreateGroup `json:"createGroup,omitzero"`
	// LiveChatAgenda is whether idle time is watched from the start, as the request says. Once an
	// agent has taken it, it is watched whatever this says.
	LiveChatAgenda bool `json:"liveChatAgenda"`
	// OutOfLiveChat is whether the bot goes on to answer the member while it is open: the
	// member's flag is not set.
	OutOfLiveChat bool `json:"outOfLiveChat,omitzero"`
	// Tickets are the messages that agents take it from; of a channel that has the request
	// directly, the one message of it.
	Tickets []Ticket `json:"tickets"`
	// Direct is the id of the channel that has the request without tickets, "" where
	// tickets are sent.
	Direct string `json:"direct,omitzero"`
	// Outlet is the id of the channel where it was taken, or that has it directly.
	Outlet string `json:"outlet,omitzero"`
	// Kept are the messages that the member wrote while no agent could read them, the oldest first. They are sent to
	// whoever takes the request, and removed as they are.
	Kept []KeptMessage `json:"kept,omitzero"`
}

// MarshalJSON writes the record with its unknown fields.
func (r AssignmentRecord) MarshalJSON() ([]byte, error) { return document.EncodeJSON(r) }

// String returns the record as JSON with readable times and without credentials, for logs and failures of tests.
func (r AssignmentRecord) String() string { return document.Text(r) }

// GoString is String, for failures of tests.
func (r AssignmentRecord) GoString() string { return r.String() }

// UnmarshalJSON reads a record and keeps unknown fields.
func (r *AssignmentRecord) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, r) }

// Ticket is one message that offers an assignment to a broadcast group.
type Ticket struct {
	// ID is the ticket's id, which the assignment's other tickets do not have.
	ID string `json:"id"`
	// Channel is the id of the outlet channel, Type its platform.
	Channel string       `json:"channel"`
	Type    channel.Type `json:"type"`
	// Group is the broadcast group that gets it.
	Group channel.BroadcastGroupMember `json:"group"`
	// MessageID and ChatID are the platform's ids of the message and of the conversation
	// that it was sent to. Both are "" until it was sent.
	MessageID string `json:"messageId,omitzero"`
	ChatID    string `json:"chatId,omitzero"`
	// SentAt is when the platform took it, TakenAt when it began to show who took the
	// assignment, and RecalledAt when it was taken back.
	SentAt     document.Timestamp `json:"sentAt,omitzero"`
	TakenAt    document.Timestamp `json:"takenAt,omitzero"`
	RecalledAt document.Timestamp `json:"recalledAt,omitzero"`
}
