package livechat

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// IdleTimeout is the default time without a message after which a conversation ends.
const IdleTimeout = 30 * time.Minute

// The ports below are optional abilities of platforms where agents answer. A connector implements the ones
// that its platform has. Without a port, the operations that need it return Unsupported, or leave out the
// part that is not essential.
//
// The rules of send.Connector hold for them: one connector serves every channel of its type from many
// goroutines; a method returns when the platform has done or refused its work, and does not change its
// arguments. Errors that a caller can act on have a code of boterr; an error without a code means that the
// platform did not answer.

// GroupCreator makes groups: conversations that agents join.
//
// If a Foxtrot or custom channel takes a request alone, no group is made: ChatID of the
// send.Delivery is the conversation that the platform opened for this request, and there the agent
// who takes it talks with the member. "" means that it opened none, and so does one that several
// open requests have got, or that is a broadcast group: then the agent's own conversation with the
// bot is used. The group that a live-chat API answers with is for this request alone, too.
type GroupCreator interface {
	// CreateGroup makes a group and returns what the platform calls it.
	CreateGroup(ctx context.Context, in *channel.Channel, group NewGroup) (CreatedGroup, error)
}

// NewGroup describes a group for a platform to make.
type NewGroup struct {
	// Key is the same each time that the same group is asked for, and different for each
	// other one: a platform that knows such keys makes one group of them.
	Key string
	// Name is the group's name. It may be "".
	Name string
	// AdminExternalID is the platform's id of the agent whom the group is for, "" if there is no agent yet.
	AdminExternalID string
	// NeedsInvitationLink asks for a link by which agents join.
	NeedsInvitationLink bool
}

// CreatedGroup is a group that a platform has made.
type CreatedGroup struct {
	// ExternalID is the group's id on the platform.
	ExternalID string
	// InvitationLink is the address by which agents join, "" if there is none.
	InvitationLink string
}

// InviteLinker changes the links by which agents join groups.
type InviteLinker interface {
	// RenewInviteLink makes a new link and returns its address. Earlier ones stop working.
	// NotFound: the platform has no such group.
	RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error)
	// DisableInviteLink puts the link out of use. That there is none is no error. NotFound:
	// the platform has no such group.
	DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error
}

// GroupNamer returns the names of groups. Without it, a group that an agent joined has no name until it
// belongs to a request.
type GroupNamer interface {
	// GroupName returns the name of a group, "" if it has none. NotFound: the platform has
	// no such group.
	GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error)
}

// GroupIconSetter gives groups their icons.
type GroupIconSetter interface {
	// SetGroupIcon sets the icon of a group. InvalidArgument: the platform cannot show the
	// picture. NotFound: it has no such group.
	SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon Picture) error
}

// Picture is a picture that was fetched.
type Picture struct {
	// ContentType is the media type, such as "image/png".
	ContentType string
	// Bytes are the picture's file. They are not to be changed.
	Bytes []byte
}

// TicketUpdater changes tickets that were sent.
type TicketUpdater interface {
	// ShowTaken makes a ticket show a text in place of its button. Doing so twice is no
	// error. NotFound: the platform does not have the ticket any more.
	ShowTaken(ctx context.Context, in *channel.Channel, ticket Ticket, text string) error
}

// TicketRecaller takes tickets back.
type TicketRecaller interface {
	// RecallTicket removes a ticket from the broadcast group's conversation. NotFound: the platform no longer
	// has it.
	RecallTicket(ctx context.Context, in *channel.Channel, ticket Ticket) error
}

// ChannelCreator makes channels on a platform.
type ChannelCreator interface {
	// CreateChannel makes a channel in a group of the platform, and returns the platform's
	// reply in its own words.
	CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error)
}
