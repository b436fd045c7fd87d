// Package member defines the members of an app, its end users: the record, the five operations on
// it, and a selection of members for hosts.
//
//   - To read or change the member of a run, use the [Member] in botctx.Context.Member.
//   - To find and change others, call the [Operations], which are methods of botctx.Context.
//   - To list members in a host, pass a [Selection] to botctx.Runtime.Members.
//
// A member is created when their first message arrives.
package member

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// plain is a Member without its methods, so that the codec treats it as a plain struct.
type plain Member

// Member is the record of a member.
//
// As a parameter of an operation it is only a reference: the record is loaded again by ID within
// the app, and all other fields are ignored.
type Member struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// Version counts the changes, starting at 1.
	Version int64 `json:"_version,omitzero"`
	// App is the app that the member belongs to.
	App string `json:"app,omitzero"`
	// BotID is the bot's id on the platform.
	BotID string `json:"botId,omitzero"`
	// BotMeta is the bot's state of the conversation.
	BotMeta BotMeta `json:"botMeta,omitzero"`
	// Channel is the id of the member's channel.
	Channel string `json:"channel,omitzero"`
	// CreatedAt is the time of creation.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	// UpdatedAt is the time of the last change.
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Etag has a new value after every change.
	Etag string `json:"etag,omitzero"`
	// ExternalID is the member's id on their platform: page-scoped on Alpha, country code and phone
	// number on Bravo, the user's id on Charlie, else a member id. It is unique within a channel.
	ExternalID string `json:"externalId,omitzero"`
	// FirstName and LastName are the member's name.
	FirstName string `json:"firstName,omitzero"`
	LastName  string `json:"lastName,omitzero"`
	// Gender is the gender reported by the platform.
	Gender string `json:"gender,omitzero"`
	// Meta is free-form data of the bot.
	Meta document.Object `json:"meta,omitzero"`
	// Platform is the member's platform.
	Platform string `json:"platform,omitzero"`
	// Profile is the platform's description of the member.
	Profile document.Object `json:"profile,omitzero"`
	// Tags are strings or objects. No operation sets them.
	Tags document.Array `json:"tags,omitzero"`
	// Email is the e-mail address.
	Email string `json:"email,omitzero"`
	// Locale is the locale reported by the platform; CustomLocale is the member's own choice.
	Locale       string `json:"locale,omitzero"`
	CustomLocale string `json:"customLocale,omitzero"`
	// Group is the id of the current live-chat group, as set by saveGroupIdToMember or bot logic.
	// It is cleared when the live chat ends.
	Group string `json:"group,omitzero"`
	// Admin is the id of the admin behind this member of an outlet channel, as set by bot logic or
	// the host.
	Admin string `json:"admin,omitzero"`
	// ProfilePic is the URL of the profile picture.
	ProfilePic string `json:"profilePic,omitzero"`
	// Unknown holds fields that Member does not define.
	Unknown document.Object `json:"-" document:"unknown"`

	// handledEvent is the decoded value of record.FieldHandledEvent.
	handledEvent string
}

// MarshalJSON writes the member with its unknown fields.
func (m Member) MarshalJSON() ([]byte, error) { return document.EncodeJSON(m) }

// String returns the member as JSON with readable times and without credentials, for logs and test
// failures.
func (m Member) String() string { return document.Text(m) }

// GoString returns String, so that test failures are readable.
func (m Member) GoString() string { return m.String() }

// UnmarshalJSON reads a member and keeps unknown fields.
func (m *Member) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, m) }

// Err returns the first error that an object or list of the member carries, with its field.
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

// DecodeField implements document.FieldDecoder. It keeps the SDK's internal fields out of Unknown.
func (m *Member) DecodeField(name string, value any) (isDecoded bool, err error) {
	switch name {
	case record.FieldLaneFence:
		return true, nil
	case record.FieldHandledEvent:
		m.handledEvent, _ = value.(string)
		return true, nil
	default:
		return (*plain)(m).DecodeField(name, value)
	}
}

// HasHandled reports whether the last run that changed the member handled the given event of the
// inbox. It is based on the record as it was read.
func (m *Member) HasHandled(event string) bool { return event != "" && m.handledEvent == event }

// RequireExternalID returns the member's ExternalID, or FailedPrecondition if it is empty.
func (m *Member) RequireExternalID() (string, error) {
	if m.ExternalID == "" {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the member %s has no externalId; the platform knows members by it", m.ID)
	}
	return m.ExternalID, nil
}

// RequireChannel returns InvalidArgument if the member is in another channel.
func (m *Member) RequireChannel(id string) error {
	if m.Channel != id {
		return boterr.Invalid("", "the member %s is in channel %s, not in %s; name the member's own channel", m.ID, m.Channel, id)
	}
	return nil
}

const (
	fieldLiveChat        = "liveChat"
	fieldSubscribe       = "subscribe"
	fieldTempData        = "tempData"
	fieldNodeCompositeID = "nodeCompositeId"
	fieldTree            = "tree"
)

// BotMeta is the bot's state of a conversation: a document.Object with accessors for the known
// fields. Its zero value works. Other fields are set and read as in any object:
//
//	m.BotMeta.Set("tempData.choice", 1)
//	choice := document.Get(m.BotMeta, "tempData.choice", 0)
type BotMeta struct{ document.Object }

// LiveChat reports whether the member is in a live chat.
func (b BotMeta) LiveChat() bool { return document.Get(b, fieldLiveChat, false) }

// Subscribe reports whether the bot may write to the member unasked. It is true unless "subscribe"
// is false.
func (b BotMeta) Subscribe() bool { return document.Get(b, fieldSubscribe, true) }

// TempData returns the scratch data of the conversation, or the zero Object if there is none.
func (b BotMeta) TempData() document.Object {
	return document.Get(b, fieldTempData, document.Object{})
}

// NodeCompositeID returns the id of the conversation's current node, or "".
func (b BotMeta) NodeCompositeID() string { return document.Get(b, fieldNodeCompositeID, "") }

// Tree returns the id of the conversation's current tree, or "".
func (b BotMeta) Tree() string { return document.Get(b, fieldTree, "") }

// SetPosition sets the conversation's current node and its tree.
func (b *BotMeta) SetPosition(nodeCompositeID, tree string) {
	b.Set(fieldNodeCompositeID, nodeCompositeID)
	b.Set(fieldTree, tree)
}

// EncodeValue returns the object.
func (b BotMeta) EncodeValue() (any, error) { return b.Object, nil }

// DecodeValue reads an object.
func (b *BotMeta) DecodeValue(value any) error { return document.DecodeValue(value, &b.Object) }
