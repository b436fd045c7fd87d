package member

import "github.com/botctx/go-sdk/document"

// The fields of stored members that are no affair of bots, and that no operation shows.
const (
	// FieldTurnFence is, of those of whom a run never came back, the fencing token of the turn that was
	// taken over from it. What that run still writes back, if it lives, finds no member.
	FieldTurnFence = "turnFence"
	// FieldHandledEvent names the event of the inbox whose run wrote back last. Where that run dies
	// before the inbox knows that the event is done, the next one knows it by this.
	FieldHandledEvent = "handledEvent"
)

// HasHandled reports whether a run of an event of the inbox was the last to be written back to the member,
// as it was read: then all that the event asked for is done.
func (m *Member) HasHandled(event string) bool {
	return m.handledEvent != "" && m.handledEvent == event
}

// hideTurnFields takes the fields out of what a bot sees.
func (m *Member) hideTurnFields() {
	m.handledEvent = document.Get(m.Unknown, FieldHandledEvent, "")
	m.Unknown = m.Unknown.Without(FieldTurnFence).Without(FieldHandledEvent)
}
