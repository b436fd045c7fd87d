package send

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// Operations are the operations that send messages.
//
// Specification: Sending operations.
type Operations interface {
	// SendResponse sends a message to one member or several, on any platform. Without
	// channel and member it goes to the context's own.
	//
	// {{path}} in the message is filled from each member. Everything is checked before
	// the first message goes out: the records, the connector, and the message as each
	// member would get it. Then all members are tried, each once. The result holds what
	// the platform answered, for several members in their order; the results of those
	// that failed say why.
	//
	// InvalidArgument: channel and channelId, or member and memberId, name different
	// records, a member is in another channel, or the response breaks a limit of its
	// type (the field is the path, such as response.buttons[2].title). NotFound: the app
	// has no such channel or member. Unsupported: the host has no connector for the
	// channel's type. FailedPrecondition: a member has no id on the platform.
	// ResourceExhausted: the platform's rate limit was reached. Unavailable: the platform
	// did not answer, or some of several members did not get the message; then the
	// results come with the error, and *UndeliveredError behind it names the members.
	//
	// Specification: Sending operations.
	SendResponse(ctx context.Context, p SendResponseParams) (SendResponseResult, error)
}

// SendResponseParams are the parameters of SendResponse.
type SendResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID is who gets the message, one member or several of the channel;
	// the default is the context's own. Of a member that is given only the id is looked
	// at. A member that is named twice gets one message.
	Member   *member.Member             `json:"member,omitzero"`
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
	// MessagingType and MessagingTag say in Alpha's words why and under which exception
	// the message is sent. They are ignored on other platforms, and InvalidArgument
	// there in strict mode.
	MessagingType string `json:"messagingType,omitzero"`
	MessagingTag  string `json:"messagingTag,omitzero"`
}

// SendResponseResult is what came of a SendResponse. Its JSON is the result's own for
// one member, and an array for several.
type SendResponseResult struct {
	// Results has one element for each member, in the order in which MemberID first
	// names them.
	Results []Result
}

// Result returns the result for the only member, or for the first of several. It is
// zero where nothing was sent.
func (r SendResponseResult) Result() Result {
	if len(r.Results) == 0 {
		return Result{}
	}
	return r.Results[0]
}

// HasOutcomes reports whether there is anything to tell beside an error.
func (r SendResponseResult) HasOutcomes() bool { return len(r.Results) > 0 }

// EncodeValue returns the only result, or an array of several.
func (r SendResponseResult) EncodeValue() (any, error) {
	if len(r.Results) == 1 {
		return r.Results[0].EncodeValue()
	}
	return document.ValueOf(r.Results)
}

// DecodeValue reads one result or an array of them. null gives none.
func (r *SendResponseResult) DecodeValue(value any) error {
	var results document.OneOrMany[Result]
	if err := results.DecodeValue(value); err != nil {
		return err
	}
	r.Results = results
	return nil
}

// MarshalJSON writes the only result, or an array of several.
func (r SendResponseResult) MarshalJSON() ([]byte, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads one result or an array of them.
func (r *SendResponseResult) UnmarshalJSON(text []byte) error { return unmarshal(text, r) }
