package livechat

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// IdleTimeout is the default time without a message after which a conversation ends.
const IdleTimeout = 30 * time.Minute

// The ports below are optional features of platforms with agents. A connector implements the ones that its
// platform supports. Without a port, the operations that need it return Unsupported, or leave out a
// non-essential part.
//
// The contract of send.Connector applies: ports must be safe for concurrent use, return once the platform has
// done or refused the request, and must not modify their arguments. Errors that a caller can act on have a
// code of boterr; an error without a code means that the platform did not answer.

// GroupCreator creates groups: conversations that agents join.
//
// A Foxtrot or custom channel that takes a request alone needs no GroupCreator. The agent talks to the member
// in the conversation that the platform opened for the request, which is the ChatID of the send.Delivery. If
// ChatID is "", the id of a broadcast group, or the same for several open requests, the agent's own
// conversation with the bot is used instead. A live-chat API, too, must return a different group for each
// request.
type GroupCreator interface {
	// CreateGroup creates a group and returns its id and link on the platform.
	CreateGroup(ctx context.Context, in *channel.Channel, group NewGroup) (CreatedGroup, error)
}

// NewGroup describes a group to be created on a platform.
type NewGroup struct {
	// Key is the same for each attempt to create this group, and different for every other group. Pass it to
	// platforms that support idempotency keys.
	Key string
	// Name is the group's name. It may be "".
	Name string
	// AdminExternalID is the platform's id of the group's agent, or "" if there is no agent yet.
	AdminExternalID string
	// NeedsInvitationLink is true if CreatedGroup must have an InvitationLink.
	NeedsInvitationLink bool
}

// CreatedGroup is a group created on a platform.
type CreatedGroup struct {
	// ExternalID is the group's id on the platform.
	ExternalID string
	// InvitationLink is the address by which agents join, or "" if there is none.
	InvitationLink string
}

// InviteLinker changes the links by which agents join groups.
type InviteLinker interface {
	// RenewInviteLink creates a new link and returns its address. Earlier links stop working. NotFound: the
	// platform has no such group.
	RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error)
	// DisableInviteLink disables the link. It succeeds if there is none. NotFound: the platform has no such
	// group.
	DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error
}

// GroupNamer returns the names of groups. Without it, a group that an agent joined has no name until it
// belongs to a request.
type GroupNamer interface {
	// GroupName returns the name of a group, or "" if it has none. NotFound: the platform has no such group.
	GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error)
}

// GroupIconSetter gives groups their icons.
type GroupIconSetter interface {
	// SetGroupIcon sets the icon of a group. InvalidArgument: the platform does not accept the picture.
	// NotFound: the platform has no such group.
	SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon Picture) error
}

// Picture is a downloaded picture.
type Picture struct {
	// ContentType is the media type, such as "image/png".
	ContentType string
	// Bytes is the content of the file. It must not be modified.
	Bytes []byte
}

// TicketUpdater changes tickets that were sent.
type TicketUpdater interface {
	// ShowTaken replaces a ticket's button by a text. It succeeds if the ticket already shows the text.
	// NotFound: the platform no longer has the ticket.
	ShowTaken(ctx context.Context, in *channel.Channel, ticket Ticket, text string) error
}

// TicketRecaller recalls tickets.
type TicketRecaller interface {
	// RecallTicket removes a ticket from the broadcast group's conversation. NotFound: the platform no longer
	// has it.
	RecallTicket(ctx context.Context, in *channel.Channel, ticket Ticket) error
}

// ChannelCreator creates channels on a platform.
type ChannelCreator interface {
	// CreateChannel creates a channel in a group of the platform, and returns the platform's raw reply.
	CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error)
}
