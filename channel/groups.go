package channel

import "github.com/botctx/go-sdk/document"

// PriorityGroup is a set of trees and global nodes that serve some of a channel's
// members.
type PriorityGroup struct {
	// CoreVersion is the core version of the group.
	CoreVersion string `json:"coreVersion,omitzero"`
	// Group is the group's name.
	Group string `json:"group,omitzero"`
	// GlobalNodes are the global nodes in the group.
	GlobalNodes []string `json:"globalNodes,omitzero"`
	// GroupGlobalNodes are the global nodes in GroupTrees. Bravo only.
	GroupGlobalNodes []string `json:"groupGlobalNodes,omitzero"`
	// GroupTrees are the trees that message users in a Bravo group. Bravo only.
	GroupTrees []string `json:"groupTrees,omitzero"`
	// OffGlobalNodes are the global nodes in OffTrees.
	OffGlobalNodes []string `json:"offGlobalNodes,omitzero"`
	// OffTrees are the trees that answer outside office hours.
	OffTrees []string `json:"offTrees,omitzero"`
	// Trees are the trees in the group.
	Trees []string `json:"trees,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the group with its unknown fields.
func (g PriorityGroup) MarshalJSON() ([]byte, error) { return document.EncodeJSON(g) }

// UnmarshalJSON reads a group and keeps unknown fields.
func (g *PriorityGroup) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, g) }

// BroadcastGroup is a set of users of an outlet channel that requests for live chat
// with its label are sent to.
type BroadcastGroup struct {
	// Label is the group's name.
	Label string `json:"label,omitzero"`
	// Groups are the users in the group.
	Groups []BroadcastGroupMember `json:"groups,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the group with its unknown fields.
func (g BroadcastGroup) MarshalJSON() ([]byte, error) { return document.EncodeJSON(g) }

// UnmarshalJSON reads a group and keeps unknown fields.
func (g *BroadcastGroup) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, g) }

// BroadcastGroupMember is one user of a broadcast group.
type BroadcastGroupMember struct {
	// ID is the user's id on the platform.
	ID string `json:"id,omitzero"`
	// Type is the user's role: "foxtrot" on Foxtrot; "user", "public_channel" or
	// "private_channel" on Charlie.
	Type string `json:"type,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the user with its unknown fields.
func (m BroadcastGroupMember) MarshalJSON() ([]byte, error) { return document.EncodeJSON(m) }

// UnmarshalJSON reads a user and keeps unknown fields.
func (m *BroadcastGroupMember) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, m) }
