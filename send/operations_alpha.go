package send

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// SendAlphaResponseParams are the parameters of SendAlphaResponse.
type SendAlphaResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID is who gets the message; the default is the context's own member.
	// Of a member that is given only the id is looked at.
	Member   *member.Member `json:"member,omitzero"`
	MemberID string         `json:"memberId,omitzero" document:"listOfOne"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendAlphaResponseToMemberIDsParams are the parameters of SendAlphaResponseToMemberIDs.
type SendAlphaResponseToMemberIDsParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// MemberID are the members of the channel who get the message. A member that is named
	// twice gets one message. Required.
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendAlphaResponseToMemberIDsResult is what came of a SendAlphaResponseToMemberIDs. Its
// JSON is an array.
type SendAlphaResponseToMemberIDsResult struct {
	// Results has one element for each member, in the order in which MemberID first
	// names them.
	Results []Result
}

// HasOutcomes reports whether there is anything to tell beside an error.
func (r SendAlphaResponseToMemberIDsResult) HasOutcomes() bool { return len(r.Results) > 0 }

// EncodeValue returns the array of results.
func (r SendAlphaResponseToMemberIDsResult) EncodeValue() (any, error) {
	if r.Results == nil {
		return document.A(), nil
	}
	return document.ValueOf(r.Results)
}

// DecodeValue reads an array of results. null gives none.
func (r *SendAlphaResponseToMemberIDsResult) DecodeValue(value any) error {
	return document.DecodeValue(value, &r.Results)
}

// MarshalJSON writes the array of results.
func (r SendAlphaResponseToMemberIDsResult) MarshalJSON() ([]byte, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads an array of results.
func (r *SendAlphaResponseToMemberIDsResult) UnmarshalJSON(text []byte) error {
	return unmarshal(text, r)
}

// AlphaGetAttachmentIDParams are the parameters of AlphaGetAttachmentID.
type AlphaGetAttachmentIDParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Type is the kind of file: TypeImage, TypeAudio, TypeVideo or TypeFile. Required.
	Type AttachmentType `json:"type,omitzero"`
	// URL is where Alpha finds the file. Required.
	URL string `json:"url,omitzero"`
}

// AlphaGetAttachmentIDResult is the result of AlphaGetAttachmentID.
type AlphaGetAttachmentIDResult struct {
	// AttachmentID is the id by which messages use the file.
	AttachmentID string `json:"attachment_id"`
}

// AlphaPassThreadControlParams are the parameters of AlphaPassThreadControl.
type AlphaPassThreadControlParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// TargetAppID is the application that gets the conversation. "" leaves the choice to the
	// platform.
	TargetAppID string `json:"targetAppId,omitzero"`
	// Metadata is handed to that application.
	Metadata string `json:"metadata,omitzero"`
}

// AlphaPassThreadControlResult is the result of AlphaPassThreadControl.
type AlphaPassThreadControlResult struct {
	// Success is true.
	Success bool `json:"success"`
}

// AlphaSaveCustomLabelParams are the parameters of AlphaSaveCustomLabel.
type AlphaSaveCustomLabelParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// LabelID is the label. Required.
	LabelID string `json:"labelId,omitzero"`
}

// AlphaSaveCustomLabelResult is the result of AlphaSaveCustomLabel.
type AlphaSaveCustomLabelResult struct {
	// ID is Alpha's number of the label.
	ID int64 `json:"id"`
}

// AlphaRemoveCustomLabelParams are the parameters of AlphaRemoveCustomLabel.
type AlphaRemoveCustomLabelParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// LabelID is the label. Required.
	LabelID string `json:"labelId,omitzero"`
}

// AlphaRemoveCustomLabelResult is the result of AlphaRemoveCustomLabel.
type AlphaRemoveCustomLabelResult struct {
	// Success is true.
	Success bool `json:"success"`
}
