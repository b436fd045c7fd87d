package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Assignment is the record of a request for live chat, as operations show it.
//
// As a parameter of an operation it is only a reference: the record is loaded again by ID within the app, and
// all other fields are ignored.
type Assignment struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// Version counts the changes, starting at 1.
	Version int64 `json:"_version,omitzero"`
	// App is the id of the assignment's app.
	App string `json:"app,omitzero"`
	// AssignedAt is the time at which the state became Taken. Assignee is the agent's id on the outlet's
	// platform, or "" if no agent has the request yet.
	AssignedAt document.Timestamp `json:"assignedAt,omitzero"`
	Assignee   string             `json:"assignee,omitzero"`
	// CreatedAt is the time of creation. UpdatedAt is the time of the last change.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Etag changes with every change.
	Etag string `json:"etag,omitzero"`
	// Expiry is the time at which the assignment ends unless there is another message. It is 0 if idle time
	// does not count.
	Expiry document.Timestamp `json:"expiry,omitzero"`
	// Group is the id of the outlet's group. GroupInfo describes the group: its externalId, name and type,
	// and on Bravo its bravoGroupId.
	Group     string          `json:"group,omitzero"`
	GroupInfo document.Object `json:"groupInfo,omitzero"`
	// History is true if the request contains the address of the conversation's history.
	History bool `json:"history"`
	// IsZendesk is true if the request went to a Foxtrot channel.
	IsZendesk bool `json:"isZendesk"`
	// Inlet is the id of the member's channel.
	Inlet string `json:"inlet,omitzero"`
	// InletGroupInfo describes the group on the inlet's side, if the conversation there is a group: its
	// externalId.
	InletGroupInfo document.Object `json:"inletGroupInfo,omitzero"`
	// Member is the id of the member.
	Member string `json:"member,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// ParentAssignment is the id of the assignment that this one was reassigned from.
	ParentAssignment string `json:"parentAssignment,omitzero"`
	// RelayMessage maps platforms to the ticket or the first message of the conversation.
	RelayMessage document.Object `json:"relayMessage,omitzero"`
	// Targets are the recipients of the request.
	Targets []Target `json:"targets"`
	// Unknown holds fields that Assignment does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the assignment with its unknown fields.
func (a Assignment) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// String returns the assignment as JSON with readable times and without credentials, for logs and test failures.
func (a Assignment) String() string { return document.Text(a) }

// GoString returns String, so that test failures are readable.
func (a Assignment) GoString() string { return a.String() }

// UnmarshalJSON reads an assignment and keeps unknown fields.
func (a *Assignment) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }

// AssignmentRecord is an assignment as it is stored, with its tickets, and with the progress from which a call
// continues after a crash. Operations return only the Assignment in it.
type AssignmentRecord struct {
	Assignment
	Progress

	// Label is the label of the broadcast groups that got the request.
	Label string `json:"label,omitzero"`
	// Summary is sent to the agent who takes the request. GroupName is the name of the conversation.
	// TakenMessage is the text of the other tickets once one is taken, or "" for the default.
	Summary      string `json:"summary,omitzero"`
	GroupName    string `json:"groupName,omitzero"`
	TakenMessage string `json:"takenMessage,omitzero"`
	// Details are the given assignmentDetails, for custom outlets.
	Details document.Object `json:"details,omitzero"`
	// CreateGroup asks a custom outlet for a group. It is nil if the request does not ask for one.
	CreateGroup *CreateGroup `json:"createGroup,omitzero"`
	// LiveChatAgenda is true if idle time counts from the start. Once an agent has taken the request, idle
	// time counts in any case.
	LiveChatAgenda bool `json:"liveChatAgenda"`
	// OutOfLiveChat is true if the bot continues to answer the member while the assignment is open. The
	// member's botMeta.liveChat is then not set.
	OutOfLiveChat bool `json:"outOfLiveChat,omitzero"`
	// Tickets are the messages by which agents take the request. If a channel has the request directly, the
	// only element is the message to that channel.
	Tickets []Ticket `json:"tickets"`
	// Direct is the id of the channel that has the request without tickets, or "" if there are tickets.
	Direct string `json:"direct,omitzero"`
	// Outlet is the id of the channel in which the request was taken, or which got it directly.
	Outlet string `json:"outlet,omitzero"`
	// Kept are the messages that the member wrote while no agent could read them, oldest first. They are sent
	// to the agent who takes the request, and then removed.
	Kept []KeptMessage `json:"kept,omitzero"`
}

// MarshalJSON writes the record with its unknown fields.
func (r AssignmentRecord) MarshalJSON() ([]byte, error) { return document.EncodeJSON(r) }

// String returns the record as JSON with readable times and without credentials, for logs and test failures.
func (r AssignmentRecord) String() string { return document.Text(r) }

// GoString returns String, so that test failures are readable.
func (r AssignmentRecord) GoString() string { return r.String() }

// UnmarshalJSON reads a record and keeps unknown fields.
func (r *AssignmentRecord) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, r) }

// Ticket is a message that offers an assignment to a broadcast group.
type Ticket struct {
	// ID is the ticket's id, which is unique within the assignment.
	ID string `json:"id"`
	// Channel is the id of the outlet channel. Type is its platform.
	Channel string       `json:"channel"`
	Type    channel.Type `json:"type"`
	// Group is the broadcast group that gets the ticket.
	Group channel.BroadcastGroupMember `json:"group"`
	// MessageID and ChatID are the platform's ids of the message and of its conversation. Both are "" until
	// the ticket is sent.
	MessageID string `json:"messageId,omitzero"`
	ChatID    string `json:"chatId,omitzero"`
	// SentAt is the time at which the platform accepted the ticket. TakenAt is the time since which the ticket
	// has shown who took the assignment, or that it has ended. RecalledAt is the time of its recall.
	SentAt     document.Timestamp `json:"sentAt,omitzero"`
	TakenAt    document.Timestamp `json:"takenAt,omitzero"`
	RecalledAt document.Timestamp `json:"recalledAt,omitzero"`
}

// Progress is the stored progress of an assignment. Together with Assignee, AssignedAt and the tickets, it
// determines the State and the steps that are done.
type Progress struct {
	// Slot is unique among the assignments of an app. While the assignment is open it is derived from the
	// member, and afterwards from the assignment. So a member has at most one open assignment.
	Slot string `json:"slot,omitzero"`
	// Sender is the call that is sending the request, or nil.
	Sender *Sender `json:"sender,omitzero"`
	// SentAt is the time at which everything was sent. The request is open from then on.
	SentAt document.Timestamp `json:"sentAt,omitzero"`
	// SummarySentAt is the time at which the agent got the summary.
	SummarySentAt document.Timestamp `json:"summarySentAt,omitzero"`
	// KeptSender is the call that is sending the kept messages, or nil.
	KeptSender *Sender `json:"keptSender,omitzero"`
	// WaitingToldAt is the time at which the member got Texts.Waiting.
	WaitingToldAt document.Timestamp `json:"waitingToldAt,omitzero"`
	// OverTold are the ids of the groups in which an agent wrote after the end and got Texts.Over.
	OverTold []string `json:"overTold,omitzero"`
	// EndedAt is the time of the end. EndedBy is the side that ended the assignment. ClosedAt is the time at
	// which the steps after the end were completed. If there is no ClosedAt, the end was interrupted, and a
	// repeated call completes it.
	EndedAt  document.Timestamp `json:"endedAt,omitzero"`
	EndedBy  EndedBy            `json:"endedBy,omitzero"`
	ClosedAt document.Timestamp `json:"closedAt,omitzero"`
	// HeardUntil is the time of the agent's event that ended the assignment or handed it on, or of the call if it had no
	// event. What an agent wrote before still reaches the member if it is handled later.
	HeardUntil document.Timestamp `json:"heardUntil,omitzero"`
	// EndReason is the platform's error if EndedBy is EndedByMemberGone or EndedByAgentGone.
	EndReason string `json:"endReason,omitzero"`
}

// Sender identifies the call that is sending a request or its kept messages. No other call sends them before
// Until.
type Sender struct {
	// ID is a unique id of the call.
	ID string `json:"id"`
	// Until is the time, by the store's clock, from which other calls may send the missing messages. A call
	// that is still running extends it; a crashed call does not.
	Until document.Timestamp `json:"until"`
}

// EndedBy is the side that ended an assignment, or the reason.
type EndedBy string

// The values of EndedBy.
const (
	// EndedByOutlet is the agent, or bot logic of the outlet channel.
	EndedByOutlet EndedBy = "outlet"
	// EndedByInlet is the member, or bot logic of the inlet channel.
	EndedByInlet EndedBy = "inlet"
	// EndedByIdle: there was no message within the idle time-out.
	EndedByIdle EndedBy = "idle"
	// EndedByReassign: the live chat was handed on to other agents.
	EndedByReassign EndedBy = "reassign"
	// EndedByRemoval: the request was withdrawn before an agent took it. The record is removed soon after.
	EndedByRemoval EndedBy = "removed"
	// EndedByMemberGone: the member can no longer be reached, for example because they blocked the bot. The
	// agent gets a text.
	EndedByMemberGone EndedBy = "member gone"
	// EndedByAgentGone: the agent's conversation is gone, for example because it was archived. The member
	// gets a text.
	EndedByAgentGone EndedBy = "agent gone"
)

// State is the state of an assignment. It is derived from the record, not stored.
type State string

// The states, in the usual order.
const (
	// Sending is the state of a request that has not reached all of its targets: the call that sends it has
	// not finished, or has partly failed and must be repeated.
	Sending State = "sending"
	// Pending is the state of an open request that no agent has taken.
	Pending State = "pending"
	// Taken is the state of an assignment that an agent has taken. An assignment with a group that a custom
	// outlet created is taken at once, before an agent joins the group.
	Taken State = "taken"
	// Ended is the state of an assignment that has an EndedAt.
	Ended State = "ended"
)

// State returns the current state of the assignment.
func (r *AssignmentRecord) State() State {
	switch {
	case !r.EndedAt.IsZero():
		return Ended
	case r.Assignee != "" || !r.AssignedAt.IsZero():
		return Taken
	case !r.SentAt.IsZero():
		return Pending
	default:
		return Sending
	}
}

// The limits of the messages that are kept until an agent takes the request.
const (
	// MostKept is the maximum number of kept messages for one request.
	MostKept = 50
	// MostKeptBytes is the maximum total size of the kept messages of one request, as JSON.
	MostKeptBytes = 64 << 10
)

// KeptMessage is a message of a member that waits for an agent.
type KeptMessage struct {
	// ID is the id of the message when it is sent to the agent.
	ID string `json:"id"`
	// At is the time at which the message arrived.
	At document.Timestamp `json:"at"`
	// Response is the message.
	Response document.Object `json:"response"`
}

// DefaultLabel is the label that selects the broadcast groups for a request without a label.
const DefaultLabel = "default"

// Target is a recipient of a request. Targets replace the recipients that follow from the label, the pairing
// and the broadcast groups.
type Target struct {
	// Channel is the id of the outlet channel.
	Channel string `json:"channel,omitzero"`
	// BroadcastGroups are the broadcast groups of the channel that get the ticket. The default is the
	// channel's broadcast groups with the label.
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	// Label is the label of the channel's broadcast groups. The default is DefaultLabel.
	Label string `json:"label,omitzero"`
	// Unknown holds fields that Target does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the target with its unknown fields.
func (t Target) MarshalJSON() ([]byte, error) { return document.EncodeJSON(t) }

// UnmarshalJSON reads a target and keeps unknown fields.
func (t *Target) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, t) }

// NewTarget is an additional recipient of a request. It has one of three forms: a Target; an element of a
// channel's broadcastGroups, with Label and Groups; or a single broadcast group, with ID and Type. Without a
// Channel, the last two belong to the outlet that already has tickets of the request; if there are several, to the one
// with these broadcast groups.
type NewTarget struct {
	// Channel, BroadcastGroups and Label have the same meaning as in a Target.
	Channel         string                         `json:"channel,omitzero"`
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	Label           string                         `json:"label,omitzero"`
	// Groups is another name for BroadcastGroups. The records of channels use it.
	Groups []channel.BroadcastGroupMember `json:"groups,omitzero"`
	// ID and Type name a single broadcast group, without the other fields.
	ID   string `json:"id,omitzero"`
	Type string `json:"type,omitzero"`
	// Unknown holds fields that NewTarget does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the target with its unknown fields.
func (t NewTarget) MarshalJSON() ([]byte, error) { return document.EncodeJSON(t) }

// UnmarshalJSON reads a target and keeps unknown fields.
func (t *NewTarget) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, t) }

// Group is the record of a live-chat conversation on the outlet's side.
//
// As a parameter of an operation it is only a reference: the record is loaded again by ID within the app, and
// all other fields are ignored.
type Group struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// CreatedAt is the time of creation. UpdatedAt is the time of the last change.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Inlet is the id of the member's channel. Outlet is the id of the agent's.
	Inlet  string `json:"inlet,omitzero"`
	Outlet string `json:"outlet,omitzero"`
	// Name is the group's name: the request's groupName, or else the member's name. A group on Bravo that an
	// agent joined has the platform's name, if the connector is a GroupNamer.
	Name string `json:"name,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// Active is true while the group is live. InactivateGroup sets both Active and Valid to false.
	Active bool `json:"active"`
	Valid  bool `json:"valid"`
	// ExternalID is the group's id on the outlet's platform.
	ExternalID string `json:"externalId,omitzero"`
	// BotID is the bot's id on the outlet's platform.
	BotID string `json:"botId,omitzero"`
	// Type is the type of the outlet channel.
	Type channel.Type `json:"type,omitzero"`
	// AdminExternalID is the agent's id on the outlet's platform. Admin is the id of the agent's Admin
	// record, if there is one.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	Admin           string `json:"admin,omitzero"`
	// App is the id of the group's app.
	App string `json:"app,omitzero"`
	// Assignment is the id of the group's assignment. Member is the id of the member.
	Assignment string `json:"assignment,omitzero"`
	Member     string `json:"member,omitzero"`
	// Version counts the changes, starting at 1.
	Version int64 `json:"_version,omitzero"`
	// InletGroupExternalID is the id of the group on the inlet's platform, if the conversation there is a
	// group.
	InletGroupExternalID string `json:"inletGroupExternalId,omitzero"`
	// Unknown holds fields that Group does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the group with its unknown fields.
func (g Group) MarshalJSON() ([]byte, error) { return document.EncodeJSON(g) }

// String returns the group as JSON with readable times and without credentials, for logs and test failures.
func (g Group) String() string { return document.Text(g) }

// GoString returns String, so that test failures are readable.
func (g Group) GoString() string { return g.String() }

// UnmarshalJSON reads a group and keeps unknown fields.
func (g *Group) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, g) }

// Admin is the record of an agent.
type Admin struct {
	// AppID is the id of the agent's app.
	AppID string `json:"appId"`
	// AdminID is the agent's id in the app.
	AdminID string `json:"adminId"`
	// ExternalID is the agent's id on the outlet's platform. It is unique within the app.
	ExternalID string `json:"externalId"`
	// Name is shown to members and other agents. It is "" if no name is known.
	Name string `json:"name,omitzero"`
	// Unknown holds fields that Admin does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the agent with the unknown fields.
func (a Admin) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// String returns the agent as JSON with readable times and without credentials, for logs and test failures.
func (a Admin) String() string { return document.Text(a) }

// GoString returns String, so that test failures are readable.
func (a Admin) GoString() string { return a.String() }

// UnmarshalJSON reads an agent and keeps unknown fields.
func (a *Admin) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }
