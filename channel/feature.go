package channel

import "strings"

// Feature is something that some platforms have, or several of that.
type Feature uint16

// The features.
const (
	// DirectRequests: it has no tickets, so that a channel with broadcast groups takes a request
	// for a person alone.
	DirectRequests Feature = 1 << iota
	// LiveChatAPI: the host's own API may take the requests, with details that are its own, also
	// for a channel without broadcast groups.
	LiveChatAPI
	// Helpdesk: its assignments are marked as those of the helpdesk, isZendesk.
	Helpdesk
	// OutletGroups: the conversation with an agent is a group, to which messages are sent and
	// which can be handed on.
	OutletGroups
	// InletGroups: a member can be in live chat from within a group.
	InletGroups
	// TicketRecall: tickets can be taken back.
	TicketRecall
	// TakenMessages: a request says what its tickets show once one was taken.
	TakenMessages
	// ResponseURLs: a message can be posted back to where an interaction happened.
	ResponseURLs
	// GroupTrees: trees of their own answer in groups.
	GroupTrees
	// MessagingTypes: a message says why it is sent, and under which exception.
	MessagingTypes
	// Threads: a message can be in a thread of its conversation, and is answered there.
	Threads
)

// Has reports whether channels of a type have a feature.
func (t Type) Has(feature Feature) bool { return PlatformOf(t).Features&feature != 0 }

// Types returns the types that have a feature.
func (f Feature) Types() []Type {
	return typesThat(func(p Platform) bool { return p.Features&f != 0 })
}

// Owners returns the types that have a feature, as errors name them, such as "bravo, delta".
func (f Feature) Owners() string { return listed(f.Types()) }

// Require returns Unsupported, with the types that are allowed, for a channel of a type that
// does not have a feature.
func (c *Channel) Require(feature Feature) error {
	if c.Type.Has(feature) {
		return nil
	}
	return c.RequireType(feature.Types()...)
}

// listed returns types as errors name them.
func listed(types []Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}
