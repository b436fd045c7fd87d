package member

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

//go:generate go run ../internal/genfields Member

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

	// handledEvent is FieldHandledEvent as it was read.
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

// setDefaults gives the member empty objects and an empty list where it has none: bot logic reads
// and writes meta.x without asking.
func (m *Member) setDefaults() {
	if m.BotMeta.IsZero() {
		m.BotMeta.Object = document.O()
	}
	if m.Meta.IsZero() {
		m.Meta = document.O()
	}
	if m.Profile.IsZero() {
		m.Profile = document.O()
	}
	if m.Tags.IsZero() {
		m.Tags = document.A()
	}
}

// fromDocument reads a member that the store holds.
func fromDocument(o document.Object) (*Member, error) {
	m, err := record.Read[Member](kind, o)
	if err != nil {
		return nil, err
	}
	m.setDefaults()
	m.hideTurnFields()
	return m, nil
}
