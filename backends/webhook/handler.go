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
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Handler takes signed requests, and hands what arrived to accept: the method Accept of a Runtime,
// which keeps it in the store, so that the bot runs later, here or in another process. It answers
// when that returns:
//
//	200  {"id": "...", "status": "accepted"}: the sender need not send it again
//	400  the body or the event is not as the package comment shows it; if it was signed, it is counted
//	     in Config.Drops. Events of any type are accepted
//	401  the signature, its time, the app or the channel is wrong, or the channel has no usable
//	     secret; which of them is not told
//	405, 408, 413, 415
//	     not a POST, a body that came too slowly, is too long, is not application/json
//	500  there is no Config.LoadChannel
//	503  with Retry-After: so many events wait that accept returned ResourceExhausted, or the
//	     store does not answer, for which Runtime.Accept waits as long as Config.Inbox.AcceptTimeout
//	     says. The sender is to send it again, under the same id.
//
// Of all errors of accept the status is that of botctx.HTTPStatus. An error is {"error": {"code":
// "InvalidArgument", "field": "messageEvent.type", "message": "..."}}. What accept reports is told
// by its code alone.
//
// A request that comes again, since the sender had no answer or somebody has caught it while its
// signature is good, is handed to accept again. Runtime.Accept knows it by the event's messageId,
// which is the id of the request where the sender gives no other, and by what else the event says.
// The events of a member run in the order in which they were accepted: a sender that has an order to
// keep posts the next when the last is answered.
//
// A host that wants the bot's own success in the answer gives the method Receive of a Runtime, which
// returns when the bot has run: then a sender waits for the bot, what a process had not answered
// when it died is run again if the sender repeats it, and a repetition is run again. Either goes on
// when the sender hangs up.
func (c *Connector) Handler(accept func(ctx context.Context, event botctx.Inbound) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.answer(w, r, accept).write(w)
	})
}

// answer takes a request. Its body is read only if its headers may be a signature's.
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

// checkKind refuses what is no POST of JSON.
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

// arrived is a request whose signature has not been checked yet.
type arrived struct {
	signed signed
	body   []byte
}

// take verifies a request by its bytes, and only then reads it and has it accepted.
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
	if err := call(context.WithoutCancel(ctx), event, accept); err != nil {
		return failed(err)
	}
	return accepted(request.signed.id)
}

// authenticate returns the channel that a request names, if the request is signed with one of its secrets, or else the
// answer. Without a secret nobody learns which channels there are.
func (c *Connector) authenticate(ctx context.Context, request arrived, from sender) (*channel.Channel, *reply) {
	if c.config.LoadChannel == nil {
		return nil, refuse(http.StatusInternalServerError,
			boterr.New(boterr.Internal, "", "the receiver is not set up: it needs Config.LoadChannel"))
	}
	of, err := c.config.LoadChannel(ctx, from.app, from.channel)
	if err == nil && of != nil {
		err = c.verify(ctx, of, request)
	}
	switch {
	case err == nil && of != nil:
		return of, nil
	case err == nil, isNoChannel(boterr.CodeOf(err)):
		return nil, unauthorized()
	default:
		return nil, failed(err)
	}
}

// isNoChannel reports whether an error says that there is no channel, or none that can be used, and
// not that it cannot be told now.
func isNoChannel(code boterr.Code) bool {
	switch code {
	case boterr.InvalidArgument, boterr.NotFound, boterr.AlreadyExists, boterr.FailedPrecondition, boterr.Unsupported:
		return true
	default:
		return false
	}
}

// verify checks the signature of a request by the secrets of a channel.
func (c *Connector) verify(ctx context.Context, of *channel.Channel, request arrived) error {
	endpoint, err := c.endpoint(ctx, of)
	if err != nil {
		return err
	}
	return request.signed.verify(request.body, endpoint.Secrets)
}

// call calls accept, and makes a panic in it an error.
func call(ctx context.Context, event botctx.Inbound, accept func(context.Context, botctx.Inbound) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = boterr.New(boterr.Internal, "", "accept panicked: %v", p)
		}
	}()
	return accept(ctx, event)
}

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
