// Package channel defines the records of an app's channels, with the credentials of their
// platforms, the pairing of inlets with outlets, and the operation getChannel.
//
//   - To create or change a [Channel], call botctx.Runtime.SaveChannel; to pair an inlet with outlets,
//     call botctx.Runtime.Pair.
//   - To set a credential, use [NewSecret] in the info of the channel's type, such as
//     [CharlieInfo], or [Hide] in [OtherInfo].
//   - To learn what a platform supports, use [PlatformOf].
//
// A credential is a [Secret]. Printing or marshaling a channel shows it as "[redacted]". Documents
// keep the value because stores need it, and connectors call Reveal to get it.
package channel

import (
	"context"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Channel is the record of a channel.
//
// As a parameter of an operation it is only a reference: the record is loaded again by ID within
// the app, and all other fields are ignored.
type Channel struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// Version counts the changes, starting at 1.
	Version int64 `json:"_version,omitzero"`
	// App is the app that the channel belongs to.
	App string `json:"app,omitzero"`
	// BroadcastGroups are the groups of agents that receive live-chat requests, by label.
	BroadcastGroups []BroadcastGroup `json:"broadcastGroups,omitzero"`
	// CreatedAt is the time of creation.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	// Description describes the channel.
	Description string `json:"description,omitzero"`
	// Etag is the time of the last change, in milliseconds as a string. It increases with each
	// change.
	Etag string `json:"etag,omitzero"`
	// ExclusiveLiveChat is for bot logic; the SDK ignores it.
	ExclusiveLiveChat bool `json:"exclusiveLiveChat,omitzero"`
	// Info holds the platform's settings. Its type depends on Type.
	Info Info `json:"info,omitzero"`
	// Metadata are variables for bot logic. When decoding, a string is parsed as a JSON object.
	Metadata document.Object `json:"metadata,omitzero"`
	// Name is the channel's name.
	Name string `json:"name,omitzero"`
	// On is true while the channel is switched on. Otherwise, only the off trees answer its members, and the channel
	// can neither make nor receive requests for a person.
	On bool `json:"on"`
	// PriorityGroups are the sets of trees that serve the channel's members.
	PriorityGroups []PriorityGroup `json:"priorityGroups,omitzero"`
	// Type is the platform.
	Type Type `json:"type,omitzero"`
	// UpdatedAt is the time of the last change.
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Unknown holds fields that Channel does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// The fields that need special decoding.
const (
	fieldInfo     = "info"
	fieldMetadata = "metadata"
	fieldType     = "type"
)

// plain is a Channel without its methods, so that the codec treats it as a plain struct.
type plain Channel

// withoutInfo decodes like plain but skips the field info, whose type depends on another field.
type withoutInfo Channel

func (c *withoutInfo) DecodeField(name string, value any) (isDecoded bool, err error) {
	if name == fieldInfo {
		return true, nil
	}
	return (*plain)(c).DecodeField(name, value)
}

// MarshalJSON writes the channel with its unknown fields and with credentials redacted.
func (c Channel) MarshalJSON() ([]byte, error) { return document.EncodeJSON(plain(c)) }

// UnmarshalJSON reads a channel as DecodeValue does.
func (c *Channel) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, c) }

// EncodeValue returns the channel as a document, with its credentials. It returns InvalidArgument
// if a credential was decoded from "[redacted]".
func (c Channel) EncodeValue() (any, error) {
	encoded, err := document.Encode(plain(c))
	if err != nil || c.Info == nil {
		return encoded, err
	}
	if info, ok := encoded.Field(fieldInfo); ok {
		if info, ok := info.(document.Object); ok {
			encoded = encoded.With(fieldInfo, withFurther(info, c.Info.further()))
		}
	}
	return encoded, encoded.Err()
}

// withFurther adds the fields of further that info lacks.
func withFurther(info, further document.Object) document.Object {
	for field, value := range further.All() {
		if _, known := info.Field(field); !known {
			info = info.With(field, value)
		}
	}
	return info
}

// DecodeValue reads a channel from an object. The channel's type determines the type of Info.
// Unknown fields are kept, also in info.
func (c *Channel) DecodeValue(value any) error {
	source, isObject := value.(document.Object)
	if !isObject {
		return document.DecodeValue(value, (*plain)(c))
	}
	info, err := readInfo(source)
	if err != nil {
		return boterr.PrefixField(fieldInfo, err)
	}
	if source, err = withMetadata(source); err != nil {
		return boterr.PrefixField(fieldMetadata, err)
	}
	if err := document.Decode(source, (*withoutInfo)(c)); err != nil {
		return err
	}
	c.Info = info
	return nil
}

// withMetadata returns source with its metadata parsed if it is a string of JSON.
func withMetadata(source document.Object) (document.Object, error) {
	given, _ := source.Field(fieldMetadata)
	text, isText := given.(string)
	if !isText {
		return source, nil
	}
	if strings.TrimSpace(text) == "" {
		return source.Without(fieldMetadata), nil
	}
	var metadata document.Object
	if err := metadata.UnmarshalJSON([]byte(text)); err != nil {
		return source, err
	}
	return source.With(fieldMetadata, metadata), nil
}

// RequireType returns Unsupported, naming the allowed types, if the channel has another type.
func (c *Channel) RequireType(allowed ...Type) error {
	if slices.Contains(allowed, c.Type) {
		return nil
	}
	return boterr.New(boterr.Unsupported, "", "the channel %s is of type %q; this operation supports only channels of type %s",
		c.ID, c.Type, listed(allowed))
}

// Clone returns a deep copy.
func (c Channel) Clone() Channel {
	c.PriorityGroups = slices.Clone(c.PriorityGroups)
	for i := range c.PriorityGroups {
		c.PriorityGroups[i].cloneLists()
	}
	c.BroadcastGroups = slices.Clone(c.BroadcastGroups)
	for i := range c.BroadcastGroups {
		c.BroadcastGroups[i].Groups = slices.Clone(c.BroadcastGroups[i].Groups)
	}
	if info, ok := c.Info.(AlphaInfo); ok {
		info.Tasks = slices.Clone(info.Tasks)
		c.Info = info
	}
	return c
}

// BotID returns the bot's id on the channel's platform, such as the id of the page, the bot or the
// business. It is "" if the channel's info has none.
func (c *Channel) BotID() string {
	switch info := c.Info.(type) {
	case AlphaInfo:
		return info.PageID
	case BravoInfo:
		return info.WaID
	case CharlieInfo:
		return info.BotID
	case DeltaInfo:
		return info.TbID
	case EchoInfo:
		return info.BotOpenID
	default:
		return ""
	}
}

// PriorityGroup is a set of trees and global nodes that serve some of a channel's members.
type PriorityGroup struct {
	// CoreVersion is for bot logic; the SDK ignores it.
	CoreVersion string `json:"coreVersion,omitzero"`
	// Group is the group's name.
	Group string `json:"group,omitzero"`
	// GlobalNodes are the global nodes in the group.
	GlobalNodes []string `json:"globalNodes,omitzero"`
	// GroupGlobalNodes are the global nodes in GroupTrees. Bravo only.
	GroupGlobalNodes []string `json:"groupGlobalNodes,omitzero"`
	// GroupTrees are the trees that answer in groups. Bravo only.
	GroupTrees []string `json:"groupTrees,omitzero"`
	// OffGlobalNodes are the global nodes in OffTrees.
	OffGlobalNodes []string `json:"offGlobalNodes,omitzero"`
	// OffTrees are the trees that answer outside office hours.
	OffTrees []string `json:"offTrees,omitzero"`
	// Trees are the trees in the group.
	Trees []string `json:"trees,omitzero"`
	// Unknown holds fields that PriorityGroup does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the group with its unknown fields.
func (g PriorityGroup) MarshalJSON() ([]byte, error) { return document.EncodeJSON(g) }

// UnmarshalJSON reads a group and keeps unknown fields.
func (g *PriorityGroup) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, g) }

func (g *PriorityGroup) cloneLists() {
	for _, list := range []*[]string{&g.GlobalNodes, &g.GroupGlobalNodes, &g.GroupTrees, &g.OffGlobalNodes, &g.OffTrees, &g.Trees} {
		*list = slices.Clone(*list)
	}
}

// BroadcastGroup is a set of recipients on an outlet channel, such as users or conversations. They
// receive the live-chat requests with its label.
type BroadcastGroup struct {
	// Label is the group's name.
	Label string `json:"label,omitzero"`
	// Groups are the recipients.
	Groups []BroadcastGroupMember `json:"groups,omitzero"`
	// Unknown holds fields that BroadcastGroup does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the group with its unknown fields.
func (g BroadcastGroup) MarshalJSON() ([]byte, error) { return document.EncodeJSON(g) }

// UnmarshalJSON reads a group and keeps unknown fields.
func (g *BroadcastGroup) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, g) }

// BroadcastGroupMember is one recipient in a broadcast group.
type BroadcastGroupMember struct {
	// ID is the recipient's id on the platform.
	ID string `json:"id,omitzero"`
	// Type is the kind of recipient: "foxtrot" on Foxtrot; "user", "public_channel" or
	// "private_channel" on Charlie; "team" on the desk of package desk.
	Type string `json:"type,omitzero"`
	// Unknown holds fields that BroadcastGroupMember does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the user with its unknown fields.
func (m BroadcastGroupMember) MarshalJSON() ([]byte, error) { return document.EncodeJSON(m) }

// UnmarshalJSON reads a user and keeps unknown fields.
func (m *BroadcastGroupMember) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, m) }

// Operations are the operations on channels. A missing required parameter is InvalidArgument.
type Operations interface {
	// GetChannel returns the id and the app of a channel. It finds only channels of the context's app.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app.
	//
	// Specification: Group and admin operations.
	GetChannel(ctx context.Context, p GetParams) (*Reference, error)
}

// GetParams are the parameters of GetChannel.
type GetParams struct {
	// ChannelID is the id of the channel. Required.
	ChannelID string `json:"channelId,omitzero"`
}

// Reference identifies a channel and its app.
type Reference struct {
	// ChannelID is the channel's id.
	ChannelID string `json:"channelId"`
	// AppID is the app's id.
	AppID string `json:"appId"`
}

// Pairing names the outlet channels that serve the live chats of an inlet channel.
type Pairing struct {
	// App is the app that the channels belong to.
	App string `json:"app"`
	// Inlet is the id of the channel whose members ask for live chat.
	Inlet string `json:"inlet"`
	// Outlets are the ids of the channels where agents answer, in the order in which they are
	// tried.
	Outlets []string `json:"outlets"`
}
