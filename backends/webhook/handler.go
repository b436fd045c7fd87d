package webhook

import (
	"context"
	"mime"
	"net/http"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Handler returns a handler that verifies signed requests and passes their events to accept,
// usually Runtime.Accept. Accept stores the event and the bot runs for it later, in this process or
// another. The handler responds when accept returns:
//
//	200  {"id": "...", "status": "accepted"}: the sender must not repeat the request
//	400  the body or the event does not have the form in the package comment. If the request was
//	     signed, Config.Drops counts it. Events of any type are accepted
//	401  the signature, its timestamp, the app or the channel is wrong, or the channel has no usable
//	     secret, which Config.Drops logs; the response does not reveal which
//	405, 408, 413, 415
//	     the request is not a POST, its body came too slowly, is too long, or is not application/json
//	500  Config.LoadChannel is not set
//	503  with Retry-After: too many events are waiting (ResourceExhausted), the store did not answer
//	     within Config.Inbox.AcceptTimeout, or LoadChannel is Unavailable. The sender must repeat the
//	     request with the same id
//
// Other errors of accept get the status from botctx.HTTPStatus. The body of an error is {"error":
// {"code": "InvalidArgument", "field": "messageEvent.type", "message": "..."}}. For an error of accept
// it has the code alone, and Config.OnError gets the error.
//
// A repeated request goes to accept again, whether its sender got no response or an attacker replays
// it while its timestamp is valid. Runtime.Accept recognises repeats by messageId, which defaults to
// the request's id, and by the event's content. A member's events run in the order in which they were
// accepted. A sender that must keep an order waits for each response before the next request.
//
// With Runtime.Receive as accept, the handler responds after the bot has run, so the response
// reports the bot's own success. The sender then waits for the bot, and each repeat runs the bot
// again. Both methods continue if the sender hangs up.
func (c *Connector) Handler(accept func(ctx context.Context, event botctx.Inbound) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.answer(w, r, accept).write(w)
	})
}

// answer handles a request. It only reads the body if the signature headers are well-formed.
func (c *Connector) answer(
	w http.ResponseWriter, r *http.Request, accept func(context.Context, botctx.Inbound) error,
) *reply {
	if refused := checkKind(w, r); refused != nil {
		inbound.LeaveUnread(w)
		return refused
	}
	signed, err := readSignature(r.Header, c.config.Now(), c.config.Inbound.Tolerance)
	if err != nil || len(signed.signatures) == 0 {
		inbound.LeaveUnread(w)
		return unauthorized()
	}
	body, refused := inbound.ReadBody(w, r, inbound.Limits{MaxBytes: c.config.Inbound.MaxBytes, Time: c.config.Inbound.BodyTime})
	if refused != nil {
		return refuse(refused.Status, boterr.Invalid("", "%s", refused.Reason))
	}
	return c.take(r.Context(), arrived{signed: signed, body: body}, accept)
}

// checkKind refuses requests that are not a POST of JSON.
func checkKind(w http.ResponseWriter, r *http.Request) *reply {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, boterr.Invalid("", "the method must be POST"))
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, boterr.Invalid("", "the content-type must be application/json"))
	}
	return nil
}

// arrived is a request that has not been verified.
type arrived struct {
	signed signed
	body   []byte
}

// take verifies the raw body, then decodes it and passes the event to accept.
func (c *Connector) take(
	ctx context.Context, request arrived, accept func(context.Context, botctx.Inbound) error,
) *reply {
	from, err := senderOf(request.body)
	if err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	of, refused := c.authenticate(ctx, request, from)
	if refused != nil {
		return refused
	}
	event, err := readInbound(request, from)
	if err != nil {
		kind := "message"
		if named, ok := inbound.Texts(request.body, "messageEvent.type"); ok && named[0] != "" {
			kind = named[0]
		}
		c.config.Drops.Add(ctx, send.Drop{Platform: of.Type, App: of.App, Channel: of.ID, Kind: kind, Reason: send.DropInvalid})
		return refuse(http.StatusBadRequest, err)
	}
	ctx = context.WithoutCancel(ctx)
	if err := inbound.Accept(ctx, event, accept); err != nil {
		c.config.OnError(ctx, event, err)
		return failed(err)
	}
	return accepted(request.signed.id)
}

// authenticate returns the channel named in a request if one of the channel's secrets signed the request.
// Otherwise it returns a refusal. An unknown channel and a wrong signature get the same refusal, so that
// callers without a secret cannot find out which channels exist.
func (c *Connector) authenticate(ctx context.Context, request arrived, from sender) (*channel.Channel, *reply) {
	if c.config.LoadChannel == nil {
		err := boterr.New(boterr.Internal, "", "the receiver is not set up: it needs Config.LoadChannel")
		c.config.OnError(ctx, botctx.Inbound{}, err)
		return nil, refuse(http.StatusInternalServerError, err)
	}
	limited, cancel := context.WithTimeout(ctx, inbound.LookUpTime)
	defer cancel()
	of, err := c.config.LoadChannel(limited, from.app, from.channel)
	if err == nil && of != nil {
		var endpoint Endpoint
		if endpoint, err = c.endpoint(limited, of); err == nil {
			err = request.signed.verify(request.body, endpoint.Secrets)
		} else if record.IsPermanent(err) {
			c.config.Drops.AddUnverified(ctx, of, err)
		}
	}
	switch {
	case err == nil && of != nil:
		return of, nil
	case err == nil, record.IsPermanent(err): // There is no such channel, or it cannot be used.
		return nil, unauthorized()
	default:
		c.config.OnError(ctx, botctx.Inbound{}, err)
		return nil, failed(err)
	}
}

// profile has the member fields that a platform may set. The other fields belong to the bot.
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

// request is the body of an inbound request.
type request struct {
	App          string          `json:"app"`
	Channel      string          `json:"channel"`
	MessageEvent document.Object `json:"messageEvent"`
	// GroupExternalID is the platform's id of the group, or "" outside groups.
	GroupExternalID string  `json:"groupExternalId"`
	Profile         profile `json:"profile"`
}

// sender is the app and the channel named in a body.
type sender struct{ app, channel string }

// senderOf decodes only the app and the channel from an unverified body.
func senderOf(body []byte) (sender, error) {
	named, ok := inbound.Texts(body, "app", "channel")
	switch {
	case !ok:
		return sender{}, boterr.Invalid("", "the body must be a JSON object")
	case named[0] == "":
		return sender{}, boterr.Invalid("app", "is missing or not a string; name the channel's app")
	case named[1] == "":
		return sender{}, boterr.Invalid("channel", "is missing or not a string; name the channel of the event")
	}
	return sender{app: named[0], channel: named[1]}, nil
}

// readInbound decodes the body of a verified request.
func readInbound(arrived arrived, from sender) (botctx.Inbound, error) {
	read, err := parse(arrived.body, from)
	if err != nil {
		return botctx.Inbound{}, err
	}
	return read.inbound(arrived.signed.id)
}

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
		return read, boterr.Invalid("", "app and channel must each appear once in the body")
	case read.MessageEvent.IsZero():
		return read, boterr.Missing("messageEvent", "the event with its type, from and data")
	}
	return read, nil
}

// inbound returns the event of the request. Without a messageId, the event's MessageID is id, the request's id.
func (r request) inbound(id string) (botctx.Inbound, error) {
	var event send.MessageEvent
	if err := event.DecodeValue(r.MessageEvent); err != nil {
		return botctx.Inbound{}, boterr.PrefixField("messageEvent", err)
	}
	if err := checkEvent(event); err != nil {
		return botctx.Inbound{}, boterr.PrefixField("messageEvent", err)
	}
	if r.GroupExternalID != "" && event.To != "" && event.To != r.GroupExternalID {
		return botctx.Inbound{}, boterr.Invalid("messageEvent.to", "must be the same as groupExternalId; leave it out, or give the group's id")
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

// checkEvent requires a type and a sender, text for TEXT, and a payload for PAYLOAD. The data of
// other types is not checked.
func checkEvent(event send.MessageEvent) error {
	switch {
	case event.Type == "":
		return boterr.Missing("type", "the type, such as TEXT or PAYLOAD")
	case event.Type.Meant() != "":
		return boterr.Invalid("type", "is %q; write it as %q", event.Type, event.Type.Meant())
	case event.From == "":
		return boterr.Missing("from", "the sender's id on the platform")
	case event.Type == send.TypeText:
		text, _ := event.Data.Field("text")
		if _, isText := text.(string); !isText {
			return boterr.Invalid("data.text", "must be a string in an event of type TEXT, got %s", document.JSONType(text))
		}
	case event.Type == send.TypePayload && event.Payload() == "":
		return boterr.Invalid("data.payload", "must be a string, or an object with the string payload, in an event of type PAYLOAD")
	}
	return nil
}
