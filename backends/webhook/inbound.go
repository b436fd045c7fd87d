package webhook

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// profile is what a platform may say of a member. What the bot itself keeps in a member's
// record is not its affair.
type profile struct {
	FirstName  string          `json:"firstName"`
	LastName   string          `json:"lastName"`
	Gender     string          `json:"gender"`
	Email      string          `json:"email"`
	Locale     string          `json:"locale"`
	ProfilePic string          `json:"profilePic"`
	BotID      string          `json:"botId"`
	Platform   string          `json:"platform"`
	Profile    document.Object `json:"profile"`
}

// request is the body of what arrives.
type request struct {
	App          string          `json:"app"`
	Channel      string          `json:"channel"`
	MessageEvent document.Object `json:"messageEvent"`
	// GroupExternalID is the group in which the event came about, "" for none.
	GroupExternalID string  `json:"groupExternalId"`
	Profile         profile `json:"profile"`
}

// sender is what a body says of where it comes from.
type sender struct{ app, channel string }

// senderOf returns the sender that an unverified body names, and decodes nothing else of it.
func senderOf(body []byte) (sender, error) {
	named, ok := inbound.Texts(body, "app", "channel")
	switch {
	case !ok:
		return sender{}, boterr.Invalid("", "the body must be a JSON object")
	case named[0] == "":
		return sender{}, boterr.Invalid("app", "is missing or no string: name the app that the channel belongs to")
	case named[1] == "":
		return sender{}, boterr.Invalid("channel", "is missing or no string: name the channel on which the event arrived")
	}
	return sender{app: named[0], channel: named[1]}, nil
}

// readInbound reads the body of a request whose signature is good.
func readInbound(arrived arrived, from sender) (botctx.Inbound, error) {
	read, err := parse(arrived.body, from)
	if err != nil {
		return botctx.Inbound{}, err
	}
	return read.inbound(arrived.signed.id)
}

// parse reads a body of a sender.
func parse(body []byte, from sender) (request, error) {
	var read request
	value, err := document.ParseJSON(body)
	if err != nil {
		return read, boterr.Invalid("", "the body must be JSON: %w", err)
	}
	if err := document.DecodeValue(value, &read); err != nil {
		return read, err
	}
	switch {
	case read.App != from.app, read.Channel != from.channel:
		return read, boterr.Invalid("", "app and channel must stand in the body once")
	case read.MessageEvent.IsZero():
		return read, boterr.Missing("messageEvent", "the event with its type, from and data")
	}
	return read, nil
}

// inbound returns what arrived. An event without an id has that of the request.
func (r request) inbound(id string) (botctx.Inbound, error) {
	var event send.MessageEvent
	if err := event.DecodeValue(r.MessageEvent); err != nil {
		return botctx.Inbound{}, boterr.PrefixField("messageEvent", err)
	}
	if err := checkEvent(event); err != nil {
		return botctx.Inbound{}, boterr.PrefixField("messageEvent", err)
	}
	if event.Data.IsZero() {
		event.Data = document.O()
	}
	if event.MessageID == "" {
		event.MessageID = id
	}
	return botctx.Inbound{
		App:     r.App,
		Channel: r.Channel,
		Event:   event,

		GroupExternalID: r.GroupExternalID,
		Profile: member.Member{
			FirstName:  r.Profile.FirstName,
			LastName:   r.Profile.LastName,
			Gender:     r.Profile.Gender,
			Email:      r.Profile.Email,
			Locale:     r.Profile.Locale,
			ProfilePic: r.Profile.ProfilePic,
			BotID:      r.Profile.BotID,
			Platform:   r.Profile.Platform,
			Profile:    r.Profile.Profile,
		},
	}, nil
}

// checkEvent refuses events that say nothing: without a type or a sender, a TEXT without
// text, a PAYLOAD without a payload. Data of other types passes as it is.
func checkEvent(event send.MessageEvent) error {
	switch {
	case event.Type == "":
		return boterr.Missing("type", "the type, such as TEXT or PAYLOAD")
	case event.From == "":
		return boterr.Missing("from", "the sender's id on the platform")
	case event.Type == send.TypeText:
		text, _ := event.Data.Field("text")
		if _, isText := text.(string); !isText {
			return boterr.Invalid("data.text", "must be a string in an event of type TEXT, got %s", document.TypeName(text))
		}
	case event.Type == send.TypePayload && event.Payload() == "":
		return boterr.Invalid("data.payload", "must be a string, or an object with the string payload, in an event of type PAYLOAD")
	}
	return nil
}
