package livechat

import "github.com/botctx/go-sdk/document"

// Progress is how far an assignment has come, as its record notes it. The State is derived from it,
// and from Assignee and AssignedAt, which operations show. So are the steps that are done; those of
// single tickets are derived from the tickets.
type Progress struct {
	// Slot is different for each assignment of an app: it is that of the member while the assignment
	// is open, and its own afterwards. So a member has at most one that is open.
	Slot string `json:"slot,omitzero"`
	// Sender is the call that sends the request now, nil where none does.
	Sender *Sender `json:"sender,omitzero"`
	// SentAt is when all of it was sent. The request is open from then on.
	SentAt document.Timestamp `json:"sentAt,omitzero"`
	// SummarySentAt is when the summary was sent to who took it.
	SummarySentAt document.Timestamp `json:"summarySentAt,omitzero"`
	// KeptSender is the call that sends the kept messages now, nil if none does.
	KeptSender *Sender `json:"keptSender,omitzero"`
	// WaitingToldAt is when the member was told that nobody has taken the request yet.
	WaitingToldAt document.Timestamp `json:"waitingToldAt,omitzero"`
	// OverTold are the ids of the groups in which an agent wrote after the end and was told so.
	OverTold []string `json:"overTold,omitzero"`
	// EndedAt is when it ended, EndedBy who ended it. ClosedAt is when all that ends with it had
	// ended, too: an end without it was interrupted, and the same call again completes it.
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
	// Until is when others may send what is missing, by the store's clock: a call that
	// goes on says so in time, one that has crashed does not.
	Until document.Timestamp `json:"until"`
}

// EndedBy is who ended an assignment.
type EndedBy string

// Who ends assignments.
const (
	// EndedByOutlet is the agent, or bot logic of the outlet channel.
	EndedByOutlet EndedBy = "outlet"
	// EndedByInlet is the member, or bot logic of the inlet channel.
	EndedByInlet EndedBy = "inlet"
	// EndedByIdle is nobody: there was no message for the idle time-out.
	EndedByIdle EndedBy = "idle"
	// EndedByReassign is who handed it on to others.
	EndedByReassign EndedBy = "reassign"
	// EndedByRemoval is who withdrew it while nobody had taken it. The record is removed
	// soon after.
	EndedByRemoval EndedBy = "removed"
	// EndedByMemberGone is nobody: the member cannot be written to any more, such as one who
	// blocked the bot. The agent is told.
	EndedByMemberGone EndedBy = "member gone"
	// EndedByAgentGone is nobody: the agent's conversation is gone, such as one that was archived.
	// The member is told.
	EndedByAgentGone EndedBy = "agent gone"
)
