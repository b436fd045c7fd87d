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
	// AssignedAt is the time at which an agent took it, Assignee the agent's id on the outlet's platform.
	// Both are absent before.
	AssignedAt document.Timestamp `json:"assignedAt,omitzero"`
	Assignee   string             `json:"assignee,omitzero"`
	// CreatedAt is the time of creation, UpdatedAt the time of the last change.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Etag changes with every change.
	Etag string `json:"etag,omitzero"`
	// Expiry is the time at which it ends for being idle. 0 if idle time is not watched.
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
	// InletGroupInfo describes the group on the inlet side, if the conversation there is one: its externalId.
	InletGroupInfo document.Object `json:"inletGroupInfo,omitzero"`
	// Member is the id of the member.
	Member string `json:"member,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// ParentAssignment is the id of the assignment that this one was reassigned from.
	ParentAssignment string `json:"parentAssignment,omitzero"`
	// RelayMessage is, by platform, the ticket or the first message of the conversation.
	RelayMessage document.Object `json:"relayMessage,omitzero"`
	// Targets are the places that got the request.
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
	// Summary is sent to the agent who takes it, GroupName is the name of the conversation, and TakenMessage
	// is the text of the other tickets then, "" for the default.
	Summary      string `json:"summary,omitzero"`
	GroupName    string `json:"groupName,omitzero"`
	TakenMessage string `json:"takenMessage,omitzero"`
	// Details are the assignmentDetails as they were given, for custom outlets.
	Details document.Object `json:"details,omitzero"`
	// CreateGroup asks a custom outlet for a group. nil if it is not asked.
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
	// Direct is the id of the channel that has the request without tickets, "" if
	// tickets are sent.
	Direct string `json:"direct,omitzero"`
	// Outlet is the id of the channel where it was taken, or that got it directly.
	Outlet string `json:"outlet,omitzero"`
	// Kept are the messages that the member wrote while no agent could read them, the oldest first. They are
	// sent to the agent who takes the request, and then removed.
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
	// SentAt is the time at which the platform took it, TakenAt the time at which it began to show who took
	// the assignment, and RecalledAt the time at which it was recalled.
	SentAt     document.Timestamp `json:"sentAt,omitzero"`
	TakenAt    document.Timestamp `json:"takenAt,omitzero"`
	RecalledAt document.Timestamp `json:"recalledAt,omitzero"`
}

// Progress is the stored progress of an assignment. The State is derived from it, and from Assignee and
// AssignedAt, which operations show. So are the steps that are done; the steps of single tickets are derived
// from the tickets.
type Progress struct {
	// Slot is unique among the assignments of an app. While the assignment is open, it is the member's slot,
	// and afterwards the assignment's own. So a member has at most one open assignment.
	Slot string `json:"slot,omitzero"`
	// Sender is the call that sends the request now, nil if none does.
	Sender *Sender `json:"sender,omitzero"`
	// SentAt is the time at which everything was sent. The request is open from then on.
	SentAt document.Timestamp `json:"sentAt,omitzero"`
	// SummarySentAt is the time at which the agent got the summary.
	SummarySentAt document.Timestamp `json:"summarySentAt,omitzero"`
	// KeptSender is the call that sends the kept messages now, nil if none does.
	KeptSender *Sender `json:"keptSender,omitzero"`
	// WaitingToldAt is the time at which the member got the text that the request is not taken yet.
	WaitingToldAt document.Timestamp `json:"waitingToldAt,omitzero"`
	// OverTold are the ids of the groups in which an agent wrote after the end and was told so.
	OverTold []string `json:"overTold,omitzero"`
	// EndedAt is the time of its end, EndedBy the side that ended it. ClosedAt is the time at which the steps
	// after the end were done: an end without it was interrupted, and the same call again completes it.
	EndedAt  document.Timestamp `json:"endedAt,omitzero"`
	EndedBy  EndedBy            `json:"endedBy,omitzero"`
	ClosedAt document.Timestamp `json:"closedAt,omitzero"`
	// EndReason is the platform's error if EndedBy is EndedByMemberGone or EndedByAgentGone.
	EndReason string `json:"endReason,omitzero"`
}

// Sender is a call that sends a request. While it does, no other call sends it.
type Sender struct {
	// ID is the call's own.
	ID string `json:"id"`
	// Until is the time from which other calls may send what is missing, by the store's clock. A call that
	// continues extends it; one that has crashed does not.
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
	// EndedByIdle: there was no message for the idle time-out.
	EndedByIdle EndedBy = "idle"
	// EndedByReassign: it was handed on to others.
	EndedByReassign EndedBy = "reassign"
	// EndedByRemoval: it was withdrawn before an agent took it. The record is removed soon after.
	EndedByRemoval EndedBy = "removed"
	// EndedByMemberGone: the member cannot be reached any more, for example because they blocked the bot. The
	// agent is told.
	EndedByMemberGone EndedBy = "member gone"
	// EndedByAgentGone: the agent's conversation is gone, for example because it was archived. The member is
	// told.
	EndedByAgentGone EndedBy = "agent gone"
)

// State is the progress of an assignment. It is derived from its record, not stored.
type State string

// The states, in the order in which an assignment passes through them.
const (
	// Sending is the state of a request that has not reached all of its targets: the call that makes it has
	// not finished, or it failed in part and must be repeated.
	Sending State = "sending"
	// Pending is the state of a request that is open and not taken.
	Pending State = "pending"
	// Taken is the state of an assignment that an agent has, or that has a group of a
	// custom outlet: there the conversation goes on from the start, and an agent who takes
	// it joins.
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
	// MostKeptBytes is the maximum size of the kept messages of one request, all together, as JSON.
	MostKeptBytes = 64 << 10
)

// KeptMessage is a message of a member that waits for an agent.
type KeptMessage struct {
	// ID is the id under which it is sent.
	ID string `json:"id"`
	// At is the time at which it came.
	At document.Timestamp `json:"at"`
	// Response is the message.
	Response document.Object `json:"response"`
}

// DefaultLabel is the label of the broadcast groups that get a request without a label.
const DefaultLabel = "default"

// Target is a place that a request goes to, in place of what label, pairing and
// broadcast groups say.
type Target struct {
	// Channel is the id of the outlet channel.
	Channel string `json:"channel,omitzero"`
	// BroadcastGroups get the ticket there. The default is the channel's broadcast groups with the label.
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	// Label is the label of the channel's broadcast groups. The default is DefaultLabel.
	Label string `json:"label,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the target with its unknown fields.
func (t Target) MarshalJSON() ([]byte, error) { return document.EncodeJSON(t) }

// UnmarshalJSON reads a target and keeps unknown fields.
func (t *Target) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, t) }

// NewTarget is a place that a request goes to as well: a Target; or a label with its groups,
// as a channel has them, of Channel or of the outlet that is there; or one group of that.
type NewTarget struct {
	// Channel, BroadcastGroups and Label have the same meaning as in a Target.
	Channel         string                         `json:"channel,omitzero"`
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	Label           string                         `json:"label,omitzero"`
	// Groups is another name of BroadcastGroups, the name that they have in a channel.
	Groups []channel.BroadcastGroupMember `json:"groups,omitzero"`
	// ID and Type name one broadcast group, without the other fields.
	ID   string `json:"id,omitzero"`
	Type string `json:"type,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the target with its unknown fields.
func (t NewTarget) MarshalJSON() ([]byte, error) { return document.EncodeJSON(t) }

// UnmarshalJSON reads a target and keeps unknown fields.
func (t *NewTarget) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, t) }

// Group is the record of a conversation of live chat, on the outlet's side.
//
// As a parameter of an operation it is an address: the record with its ID is loaded
// again within the app, and what else it holds is not looked at.
type Group struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// CreatedAt is the time of creation, UpdatedAt the time of the last change.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Inlet is the id of the member's channel, Outlet the id of the agent's.
	Inlet  string `json:"inlet,omitzero"`
	Outlet string `json:"outlet,omitzero"`
	// Name is the group's name: the request's groupName, else the member's name. A group on Bravo that an
	// agent joined has the platform's name, if the connector is a GroupNamer.
	Name string `json:"name,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// Active is whether it is still live. Valid is cleared when it is put out of use.
	Active bool `json:"active"`
	Valid  bool `json:"valid"`
	// ExternalID is the group's id on the outlet's platform.
	ExternalID string `json:"externalId,omitzero"`
	// BotID is the bot's id on the outlet's platform.
	BotID string `json:"botId,omitzero"`
	// Type is the type of the outlet channel.
	Type channel.Type `json:"type,omitzero"`
	// AdminExternalID is the agent's id on the outlet's platform, Admin the id of the
	// agent's Admin record, if there is one.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	Admin           string `json:"admin,omitzero"`
	// App is the app that it belongs to.
	App string `json:"app,omitzero"`
	// Assignment is the id of its assignment, Member the id of the member.
	Assignment string `json:"assignment,omitzero"`
	Member     string `json:"member,omitzero"`
	// Version counts the changes, from 1 on.
	Version int64 `json:"_version,omitzero"`
	// InletGroupExternalID is the id of the group on the inlet's platform, if the conversation there is a
	// group.
	InletGroupExternalID string `json:"inletGroupExternalId,omitzero"`
	// Unknown holds the fields of other names.
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
	// ExternalID is the agent's id on the outlet's platform. No two agents of an app have
	// the same.
	ExternalID string `json:"externalId"`
	// Name is shown to members and other agents, "" if it is not known.
	Name string `json:"name,omitzero"`
	// Unknown holds the fields of other names.
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
