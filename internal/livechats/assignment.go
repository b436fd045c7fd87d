package livechats

import (
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// The fields of the documents.
const (
	fieldAssignedAt       = "assignedAt"
	fieldAssignee         = "assignee"
	fieldExpiry           = "expiry"
	fieldGroup            = "group"
	fieldGroupInfo        = "groupInfo"
	fieldBravoGroupID     = "bravoGroupId"
	fieldHistory          = "history"
	fieldIsZendesk        = "isZendesk"
	fieldInlet            = "inlet"
	fieldInletGroupInfo   = "inletGroupInfo"
	fieldMember           = "member"
	fieldMeta             = "meta"
	fieldParentAssignment = "parentAssignment"
	fieldRelayMessage     = "relayMessage"
	fieldTargets          = "targets"
	fieldSlot             = "slot"
	fieldLabel            = "label"
	fieldSummary          = "summary"
	fieldGroupName        = "groupName"
	fieldTakenMessage     = "takenMessage"
	fieldDetails          = "details"
	fieldCreateGroup      = "createGroup"
	fieldOutOfLiveChat    = "outOfLiveChat"
	fieldTickets          = "tickets"
	fieldDirect           = "direct"
	fieldSender           = "sender"
	fieldOutlet           = "outlet"
	fieldSentAt           = "sentAt"
	fieldSummarySentAt    = "summarySentAt"
	fieldTakenAt          = "takenAt"
	fieldRecalledAt       = "recalledAt"
	fieldEndedAt          = "endedAt"
	fieldEndedBy          = "endedBy"
	fieldClosedAt         = "closedAt"
	fieldEndReason        = "endReason"
	fieldKept             = "kept"
	fieldKeptSender       = "keptSender"
	fieldWaitingToldAt    = "waitingToldAt"
	fieldOverTold         = "overTold"
)

// assignmentKind is how assignments are kept.
var assignmentKind = &record.Kind{
	Name:       "assignment",
	Collection: "assignments",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
	Fixed:      []string{record.FieldCreatedAt, record.FieldApp, fieldInlet, fieldMember},
}

// assignmentFrom reads an assignment that the store holds.
func assignmentFrom(o document.Object) (*livechat.AssignmentRecord, error) {
	r, err := record.Read[livechat.AssignmentRecord](assignmentKind, o)
	if err != nil {
		return nil, err
	}
	if r.Meta.IsZero() {
		r.Meta = document.O()
	}
	if r.Targets == nil {
		r.Targets = []livechat.Target{}
	}
	return r, nil
}
