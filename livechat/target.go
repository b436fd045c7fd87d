package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// DefaultLabel is the label of the broadcast groups that get a request, where none is
// given.
const DefaultLabel = "default"

// Target is a place that a request goes to, in place of what label, pairing and
// broadcast groups say.
type Target struct {
	// Channel is the id of the outlet channel.
	Channel string `json:"channel,omitzero"`
	// BroadcastGroups are who gets the ticket there. The default is the channel's
	// broadcast groups with the label.
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	// Label is the label of the channel's broadcast groups. The default is DefaultLabel.
	Label string `json:"label,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the target with its unknown fields.
func (t Target) MarshalJSON() ([]byte, error) { return document.EncodeJSON(t) }

// UnmarshalJSON reads a target and keeps unknown fields.
func (t *Target) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, t) }

// NewTarget is a place that a request goes to as well: a Target; or a label with its groups,
// as a channel has them, of Channel or of the outlet that is there; or one group of that.
type NewTarget struct {
	// Channel, BroadcastGroups and Label are those of a Target.
	Channel         string                         `json:"channel,omitzero"`
	BroadcastGroups []channel.BroadcastGroupMember `json:"broadcastGroups,omitzero"`
	Label           string                         `json:"label,omitzero"`
	// Groups are what BroadcastGroups are, by the name that they have in a channel.
	Groups []channel.BroadcastGroupMember `json:"groups,omitzero"`
	// ID and Type are those of a broadcast group. They stand alone.
	ID   string `json:"id,omitzero"`
	Type string `json:"type,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the target with its unknown fields.
func (t NewTarget) MarshalJSON() ([]byte, error) { return document.EncodeJSON(t) }

// UnmarshalJSON reads a target and keeps unknown fields.
func (t *NewTarget) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, t) }
