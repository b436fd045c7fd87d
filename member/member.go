// Package member is the members of an app, its end users: their record, the five
// operations on it, and for hosts a selection of members.
//
//   - To read and change the member of a run, use the [Member] that is botctx.Context.Member.
//   - To find and change others, call the [Operations], which are methods of botctx.Context.
//   - To list members in a host, give a [Selection] to Members of a botctx.Runtime. A member is made when they
//     first write.
package member

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

//go:generate go run ../internal/genfields plain

// plain is a Member without its methods, which the codec reads field by field.
type plain Member

// Member is the record of a member.
//
// As a parameter of an operation it is an address: the record with its ID is loaded
// again within the app, and what else it holds is not looked at.
type Member struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// Version counts the changes, from 1 on.
	Version int64 `json:"_version,omitzero"`
	// App is the app that the member belongs to.
	App string `json:"app,omitzero"`
	// BotID is the bot's id on the platform.
	BotID string `json:"botId,omitzero"`
	// BotMeta is what the bot keeps about the conversation.
	BotMeta BotMeta `json:"botMeta,omitzero"`
	// Channel is the id of the member's channel.
	Channel string `json:"channel,omitzero"`
	// CreatedAt is when the record was made.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	// UpdatedAt is when the record last changed.
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Etag changes with every change.
	Etag string `json:"etag,omitzero"`
	// ExternalID is the member's id on its own platform: page-scoped on Alpha, country
	// code and phone number on Bravo, the user's id on Charlie, else a member id. No two
	// members of a channel have the same.
	ExternalID string `json:"externalId,omitzero"`
	// FirstName and LastName are the member's name.
	FirstName string `json:"firstName,omitzero"`
	LastName  string `json:"lastName,omitzero"`
	// Gender is the gender as the platform gives it.
	Gender string `json:"gender,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// Platform is the platform that the member is on.
	Platform string `json:"platform,omitzero"`
	// Profile is what the platform says of the member.
	Profile document.Object `json:"profile,omitzero"`
	// Tags are strings or objects. No operation fills them.
	Tags document.Array `json:"tags,omitzero"`
	// Email is the e-mail address.
	Email string `json:"email,omitzero"`
	// Locale is the locale as the platform gives it, CustomLocale the one that the
	// member chose.
	Locale       string `json:"locale,omitzero"`
	CustomLocale string `json:"customLocale,omitzero"`
	// Group is the id of the current live-chat group, as saveGroupIdToMember or bot logic keeps
	// it. The end of the live chat clears it.
	Group string `json:"group,omitzero"`
	// Admin is the id of the admin that a member of an outlet channel is, as bot logic or the
	// host says.
	Admin string `json:"admin,omitzero"`
	// ProfilePic is the address of the profile picture.
	ProfilePic string `json:"profilePic,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`

	// handledEvent is record.FieldHandledEvent as it was read.
	handledEvent string
}

// MarshalJSON writes the member with its unknown fields.
func (m Member) MarshalJSON() ([]byte, error) { return document.EncodeJSON(m) }

// String returns the member as JSON with readable times and without credentials, for logs and failures of tests.
func (m Member) String() string { return document.Text(m) }

// GoString is String, for failures of tests.
func (m Member) GoString() string { return m.String() }

// UnmarshalJSON reads a member and keeps unknown fields.
func (m *Member) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, m) }

// Err returns the error that an object or a list of the member carries, at its field, or nil.
func (m *Member) Err() error {
	for _, of := range [...]struct {
		field string
		err   error
	}{
		{"botMeta", m.BotMeta.Err()},
		{"meta", m.Meta.Err()},
		{"profile", m.Profile.Err()},
		{"tags", m.Tags.Err()},
		{"", m.Unknown.Err()},
	} {
		if of.err != nil {
			return boterr.PrefixField(of.field, of.err)
		}
	}
	return nil
}

// DecodeField implements document.FieldDecoder. It keeps the SDK's own fields from Unknown.
func (m *Member) DecodeField(name string, value any) (isDecoded bool, err error) {
	switch name {
	case record.FieldTurnFence:
		return true, nil
	case record.FieldHandledEvent:
		m.handledEvent, _ = value.(string)
		return true, nil
	default:
		return (*plain)(m).DecodeField(name, value)
	}
}

// HasHandled reports whether the last run that was written back to the member, as it was read, handled an event of
// the inbox.
func (m *Member) HasHandled(event string) bool { return event != "" && m.handledEvent == event }

// RequireExternalID returns the member's id on its platform, or FailedPrecondition.
func (m *Member) RequireExternalID() (string, error) {
	if m.ExternalID == "" {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the member %s has no externalId, by which its platform would know it", m.ID)
	}
	return m.ExternalID, nil
}

// RequireChannel returns InvalidArgument for a member of another channel.
func (m *Member) RequireChannel(id string) error {
	if m.Channel != id {
		return boterr.Invalid("", "the member %s is in the channel %s, and not in %s: name the member's own channel", m.ID, m.Channel, id)
	}
	return nil
}

// The fields of botMeta that are known.
const (
	fieldLiveChat        = "liveChat"
	fieldSubscribe       = "subscribe"
	fieldTempData        = "tempData"
	fieldNodeCompositeID = "nodeCompositeId"
	fieldTree            = "tree"
)

// BotMeta is what the bot keeps about a conversation: a document.Object with
// accessors for the fields that are known. Its zero value works. Others are set and
// read as in any object:
//
//	m.BotMeta.Set("tempData.choice", 1)
//	choice := document.Get(m.BotMeta, "tempData.choice", 0)
type BotMeta struct{ document.Object }

// LiveChat reports whether the member is in a live chat.
func (b BotMeta) LiveChat() bool { return document.Get(b, fieldLiveChat, false) }

// Subscribe reports whether the bot may write to the member unasked: true unless
// "subscribe" is false.
func (b BotMeta) Subscribe() bool { return document.Get(b, fieldSubscribe, true) }

// TempData returns the scratch data of the conversation, the zero Object where there
// is none.
func (b BotMeta) TempData() document.Object {
	return document.Get(b, fieldTempData, document.Object{})
}

// NodeCompositeID returns the id of the node at which the conversation stands, or "".
func (b BotMeta) NodeCompositeID() string { return document.Get(b, fieldNodeCompositeID, "") }

// Tree returns the id of the tree in which the conversation stands, or "".
func (b BotMeta) Tree() string { return document.Get(b, fieldTree, "") }

// SetPosition sets the node at which the conversation stands, and its tree.
func (b *BotMeta) SetPosition(nodeCompositeID, tree string) {
	b.Set(fieldNodeCompositeID, nodeCompositeID)
	b.Set(fieldTree, tree)
}

// EncodeValue returns the object.
func (b BotMeta) EncodeValue() (any, error) { return b.Object, nil }

// DecodeValue reads an object.
func (b *BotMeta) DecodeValue(value any) error { return document.DecodeValue(value, &b.Object) }
