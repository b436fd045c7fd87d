package livechats

import (
	"maps"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// detailsObject returns details as an outlet is told them: each message is as it was given.
func detailsObject(d livechat.AssignmentDetails) (document.Object, error) {
	details, err := document.Encode(d)
	if err != nil || len(d.RelayMessage) == 0 {
		return details, err
	}
	messages := document.Get(details, fieldRelayMessage, document.O())
	for platform, message := range d.RelayMessage {
		messages = messages.With(string(platform), message.Object())
	}
	return details.With(fieldRelayMessage, messages), nil
}

// typedDetail returns where a detail of that name is read into, nil for an unknown one.
func typedDetail(name string) any {
	switch name {
	case fieldSummary, fieldGroupName:
		return new(string)
	case fieldRelayMessage:
		return new(map[channel.Type]send.Response)
	default:
		return nil
	}
}

// checkDetails refuses details that only a custom outlet takes.
func checkDetails(d livechat.AssignmentDetails) error {
	for name, value := range d.Unknown.All() {
		into := typedDetail(name)
		if into == nil {
			continue
		}
		if err := document.DecodeValue(value, into); err != nil {
			return boterr.PrefixField(fieldAssignmentDetails+"."+name, err)
		}
	}
	return nil
}

// checkDetailNames refuses fields, and platforms of relay messages, that no outlet of a request looks at because they do
// not exist.
func checkDetailNames(d livechat.AssignmentDetails, to route) error {
	for name := range d.Unknown.All() {
		if typedDetail(name) == nil {
			return boterr.Invalid(fieldAssignmentDetails+"."+name, "there is no such field")
		}
	}
	known := channel.Types()
	for _, o := range to.outlets {
		known = append(known, o.Type) // It may be of the host's own.
	}
	for _, platform := range slices.Sorted(maps.Keys(d.RelayMessage)) {
		if !slices.Contains(known, platform) {
			return boterr.Invalid(relayMessageField(platform),
				"there is no such platform: give the type of an outlet, such as %s", to.outlets[0].Type)
		}
	}
	return nil
}
