package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Group is the record of a conversation of live chat, on the outlet's side.
//
// As a parameter of an operation it is an address: the record with its ID is loaded
// again within the app, and what else it holds is not looked at.
type Group struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// CreatedAt is when the record was made, UpdatedAt when it last changed.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Inlet is the id of the member's channel, Outlet that of the agent's.
	Inlet  string `json:"inlet,omitzero"`
	Outlet string `json:"outlet,omitzero"`
	// Name is the group's name: the request's groupName, else that of the member. Of one on Bravo
	// that an agent joined, what the platform calls it, where the connector is a GroupNamer.
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
	// agent's Admin record, where there is one.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	Admin           string `json:"admin,omitzero"`
	// App is the app that it belongs to.
	App string `json:"app,omitzero"`
	// Assignment is the id of its assignment, Member that of the member.
	Assignment string `json:"assignment,omitzero"`
	Member     string `json:"member,omitzero"`
	// Version counts the changes, from 1 on.
	Version int64 `json:"_version,omitzero"`
	// InletGroupExternalID is the id of the group on the inlet's platform, where the
	// conversation there is a group.
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
