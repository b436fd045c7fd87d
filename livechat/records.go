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
	// App is the app that it belongs to.
	App string `json:"app,omitzero"`
	// AssignedAt is the time at which an agent took it. Assignee is the agent's id on the outlet's platform.
	// Both are absent until then.
	AssignedAt document.Timestamp `json:"assignedAt,omitzero"`
	Assignee   string             `json:"assignee,omitzero"`
	// CreatedAt is the time of creation. UpdatedAt is the time of the last change.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Etag changes with every change.
	Etag string `json:"etag,omitzero"`
	// Expiry is the time at which it ends because it is idle. It is 0 if idle time does not count.
	Expiry document.Timestamp `json:"expiry,omitzero"`
	// Group is the id of the outlet's group. GroupInfo describes the group: its externalId, name and type,
	// and on Bravo its bravoGroupId.
	Group     string          `json:"group,omitzero"`
	GroupInfo document.Object `json:"groupInfo,omitzero"`
	// History is true if the address of the conversation's history went with the request.
	History bool `json:"history"`
	// IsZendesk is true if a Foxtrot channel has it.
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
	// RelayMessage is, by platform, the ticket or the first message of the conversation.
	RelayMessage document.Object `json:"relayMessage,omitzero"`
	// Targets are the recipients of the request.
	Targets []Target `json:"targets"`
	// Unknown holds fields that Assignment does not define.
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

// AssignmentRecord is a stored assignment: with its tickets, and with its progress, by which it continues
// after a crash. Operations only show the Assignment in it.
type AssignmentRecord struct {
	Assignment
	Progress

	// Label is the label of the broadcast groups that got the request.
	Label string `json:"label,omitzero"`
	// Summary is sent to the agent who takes it. GroupName is the name of the conversation. TakenMessage is the
	// text that the other tickets then show, or "" for the default.
	Summary      string `json:"summary,omitzero"`
	GroupName    string `json:"groupName,omitzero"`
	TakenMessage string `json:"takenMessage,omitzero"`
	// Details are the given assignmentDetails, for custom outlets.
	Details document.Object `json:"details,omitzero"`
	// CreateGroup asks a custom outlet for a group. It is nil if the request does not ask for one.
	CreateGroup *CreateGroup `json:"createGroup,omitzero"`
	// LiveChatAgenda is true if idle time counts from the start, as requested. Once an agent has taken
	// it, idle time counts in any case.
	LiveChatAgenda bool `json:"liveChatAgenda"`
	// OutOfLiveChat is true if the bot continues to answer the member while it is open: the member's flag is
	// not set.
	OutOfLiveChat bool `json:"outOfLiveChat,omitzero"`
	// Tickets are the messages by which agents take it. For a channel that has the request directly, it is
	// the single message to that channel.
	Tickets []Ticket `json:"tickets"`
	// Direct is the id of the channel that has the request without tickets, or "" if there are tickets.
	Direct string `json:"direct,omitzero"`
	// Outlet is the id of the channel in which it was taken, or that got it directly.
	Outlet string `json:"outlet,omitzero"`
	// Kept are the messages that the member wrote while no agent could read them, oldest first. They are sent
	// to the agent who takes the request, and then removed.
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

// Ticket is a message that offers an assignment to a broadcast group.
type Ticket struct {
	// ID is the ticket's id, which is unique within the assignment.
	ID string `json:"id"`
	// Channel is the id of the outlet channel. Type is its platform.
	Channel string       `json:"channel"`
	Type    channel.Type `json:"type"`
	// Group is the broadcast group that gets it.
	Group channel.BroadcastGroupMember `json:"group"`
	// MessageID and ChatID are the platform's ids of the message and of its conversation. Both are "" until
	// it is sent.
	MessageID string `json:"messageId,omitzero"`
	ChatID    string `json:"chatId,omitzero"`
	// SentAt is the time at which the platform accepted it. TakenAt is the time at which it began to show who
	// took the assignment. RecalledAt is the time at which it was recalled.
	SentAt     document.Timestamp `json:"sentAt,omitzero"`
	TakenAt    document.Timestamp `json:"takenAt,omitzero"`
	RecalledAt document.Timestamp `json:"recalledAt,omitzero"`
}

// Progress is the stored progress of an assignment. The State is derived from it and from Assignee and
// AssignedAt, and so are the completed steps; the completed steps of single tickets are derived from the
// tickets.
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
	// WaitingToldAt is the time at which the member got the text that no agent has taken the request.
	WaitingToldAt document.Timestamp `json:"waitingToldAt,omitzero"`
	// OverTold are the ids of the groups in which an agent wrote after the end and got the text about it.
	OverTold []string `json:"overTold,omitzero"`
	// EndedAt is the time of its end. EndedBy is the side that ended it. ClosedAt is the time at which the
	// steps after the end were completed. If only EndedAt is set, the end was interrupted, and a repeated
	// call completes it.
	EndedAt  document.Timestamp `json:"endedAt,omitzero"`
	EndedBy  EndedBy            `json:"endedBy,omitzero"`
	ClosedAt document.Timestamp `json:"closedAt,omitzero"`
	// EndReason is the platform's error if EndedBy is EndedByMemberGone or EndedByAgentGone.
	EndReason string `json:"endReason,omitzero"`
}

// Sender is a call that sends a request. In the meantime, no other call sends it.
type Sender struct {
	// ID is the call's own.
	ID string `json:"id"`
	// Until is the time, by the store's clock, from which other calls may send the missing messages. A call
	// that is still running extends it; a crashed call does not.
	Until document.Timestamp `json:"until"`
}

// EndedBy is the side or the reason that ended an assignment.
type EndedBy string

// The values of EndedBy.
const (
	// EndedByOutlet is the agent, or bot logic of the outlet channel.
	EndedByOutlet EndedBy = "outlet"
	// EndedByInlet is the member, or bot logic of the inlet channel.
	EndedByInlet EndedBy = "inlet"
	// EndedByIdle: there was no message within the idle time-out.
	EndedByIdle EndedBy = "idle"
	// EndedByReassign: it was handed on to other agents.
	EndedByReassign EndedBy = "reassign"
	// EndedByRemoval: it was withdrawn before an agent took it. The record is removed soon after.
	EndedByRemoval EndedBy = "removed"
	// EndedByMemberGone: the member can no longer be reached, for example because they blocked the bot. The
	// agent gets a text.
	EndedByMemberGone EndedBy = "member gone"
	// EndedByAgentGone: the agent's conversation is gone, for example because it was archived. The member
	// gets a text.
	EndedByAgentGone EndedBy = "agent gone"
)

// State is the progress of an assignment. It is derived from its record, not stored.
type State string

// The states, in order.
const (
	// Sending is the state of a request that has not reached all of its targets: the call that sends it has
	// not finished, or it failed partly and must be repeated.
	Sending State = "sending"
	// Pending is the state of an open request that no agent has taken.
	Pending State = "pending"
	// Taken is the state of an assignment that an agent has, or that has a group of a custom outlet: there
	// the conversation starts at once, and an agent who takes it joins.
	Taken State = "taken"
	// Ended is the state of an assignment that is over.
	Ended State = "ended"
)

// State returns how far the assignment is.
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

const (
	// MostKept is the maximum number of kept messages for one request.
	MostKept = 50
	// MostKeptBytes is the maximum total size of the kept messages of one request, as JSON.
	MostKeptBytes = 64 << 10
)

// KeptMessage is a message of a member that waits for an agent.
type KeptMessage struct {
	// ID is the id under which it is sent.
	ID string `json:"id"`
	// At is the time at which it arrived.
	At document.Timestamp `json:"at"`
	// Response is the message.
	Response document.Object `json:"response"`
}

// DefaultLabel is the label of the broadcast groups that get a request without a label.
const DefaultLabel = "default"

// Target is a recipient of a request, instead of the ones determined by label, pairing and broadcast groups.
type Target struct {
	// Channel is the id of the outlet channel.
	Channel string `json:"channel,omitzero"`
	// BroadcastGroups get the ticket there. The default is the channel's broadcast groups with the label.
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

// NewTarget is an additional recipient of a request. It is a Target; or a label with its groups, in the form
// of a channel's broadcast groups, of Channel or of the current outlet; or a single group of the current
// outlet.
type NewTarget struct {
	// Channel, BroadcastGroups and Label have the same meaning as in a Target.
	Channel         string                         `json:"channel,omitzero"`
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	Label           string                         `json:"label,omitzero"`
	// Groups is another name for BroadcastGroups, which a channel uses.
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
	// Active is true while the group is live. Valid is cleared when it is deactivated.
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
	// App is the app that it belongs to.
	App string `json:"app,omitzero"`
	// Assignment is the id of its assignment. Member is the id of the member.
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

// String returns the group as JSON with readable times and without credentials, for logs and failures of tests.
func (g Group) String() string { return document.Text(g) }

// GoString is String, for failures of tests.
func (g Group) GoString() string { return g.String() }

// UnmarshalJSON reads a group and keeps unknown fields.
func (g *Group) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, g) }

// Admin is the record of an agent.
type Admin struct {
	// AppID is the app that the agent belongs to.
	AppID string `json:"appId"`
	// AdminID is the agent's id in the app.
	AdminID string `json:"adminId"`
	// ExternalID is the agent's id on the outlet's platform. It is unique within the app.
	ExternalID string `json:"externalId"`
	// Name is shown to members and other agents. It is "" if it is unknown.
	Name string `json:"name,omitzero"`
	// Unknown holds fields that Admin does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the agent with the unknown fields.
func (a Admin) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// String returns the agent as JSON with readable times and without credentials, for logs and failures of tests.
func (a Admin) String() string { return document.Text(a) }

// GoString is String, for failures of tests.
func (a Admin) GoString() string { return a.String() }

// UnmarshalJSON reads an agent and keeps unknown fields.
func (a *Admin) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }
