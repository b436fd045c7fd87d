package webhook

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/inbound"
)

// Handler takes signed requests, and hands what arrived to receive, such as the method Receive
// of a Runtime. It answers when that returns:
//
//	200  {"id": "...", "status": "done"}; "duplicate" for an id that is done already
//	400  the body or the event is not as the package comment shows it
//	401  the signature, its time, the app or the channel is wrong, or the channel has no usable
//	     secret; which of them is not told
//	404, 409, 429, 501, 503
//	     receive returned NotFound; AlreadyExists, Conflict or FailedPrecondition;
//	     ResourceExhausted; Unsupported; Unavailable or Canceled. 409 is also the answer
//	     while a request of the same id is under way.
//	405, 408, 413, 415
//	     not a POST, a body that came too slowly, is too long, is not application/json
//	500  receive returned any other error, or there is no Config.LoadChannel
//
// An error is {"error": {"code": "InvalidArgument", "field": "messageEvent.type", "message":
// "..."}}. What receive reports is told by its code alone. Where bot logic itself
// failed, so that a *botctx.RunError is behind the error, only ResourceExhausted, Conflict,
// Unavailable and Canceled have their statuses, since another attempt may succeed; others are
// 500.
//
// A run goes on when the sender hangs up: the sender's next attempt finds it done. After an
// error the id may come again, and runs again. Ids are kept in this process, as long as
// their signatures are good, see Limits.MaxRemembered: where several processes serve one
// address, receive should tell repetitions by Inbound.Event.MessageID, which is the id of the
// request where the sender gives no other.
func (c *Connector) Handler(receive func(ctx context.Context, event botctx.Inbound) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.answer(w, r, receive).write(w)
	})
}

// answer takes a request. Its body is read only if its headers may be a signature's.
func (c *Connector) answer(
	w http.ResponseWriter, r *http.Request, receive func(context.Context, botctx.Inbound) error,
) *reply {
	if refused := checkKind(w, r); refused != nil {
		inbound.LeaveUnread(w)
		return refused
	}
	now := c.config.Now()
	signed, err := readSignature(r.Header, now, c.config.Inbound.Tolerance)
	if err != nil || len(signed.signatures) == 0 {
		inbound.LeaveUnread(w)
		return unauthorized()
	}
	body, refused := inbound.ReadBody(w, r, inbound.Limits{MaxBytes: c.config.Inbound.MaxBytes, Time: c.config.Inbound.BodyTime})
	if refused != nil {
		return refuse(refused.Status, boterr.Invalid("", "%s", refused.Reason))
	}
	return c.take(r.Context(), arrived{signed: signed, body: body, at: now}, receive)
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
	at     time.Time
}

// take verifies a request by its bytes, and only then reads it and runs what answers it.
func (c *Connector) take(
	ctx context.Context, request arrived, receive func(context.Context, botctx.Inbound) error,
) *reply {
	from, err := senderOf(request.body)
	if err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	if refused := c.authenticate(ctx, request, from); refused != nil {
		return refused
	}
	event, err := readInbound(request, from)
	if err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	// Cloned, so that what is remembered does not hold on to whole bodies.
	key := replayKey{app: strings.Clone(from.app), channel: strings.Clone(from.channel), id: strings.Clone(request.signed.id)}
	switch c.seen.begin(key, request.at) {
	case isDone:
		return accept(request.signed.id, "duplicate")
	case isActive:
		return refuse(http.StatusConflict, boterr.New(boterr.Conflict, "", "a request of this id is under way; try again later"))
	case isNew:
	}
	if err := run(context.WithoutCancel(ctx), event, receive); err != nil {
		c.seen.fail(key)
		return failed(err)
	}
	c.seen.succeed(key, c.config.Now())
	return accept(request.signed.id, "done")
}

// authenticate checks that a request is signed with a secret of the channel that it names.
// Who has no secret does not learn which channels there are.
func (c *Connector) authenticate(ctx context.Context, request arrived, from sender) *reply {
	if c.config.LoadChannel == nil {
		return refuse(http.StatusInternalServerError, boterr.New(boterr.Internal, "", "the receiver is not set up: it needs Config.LoadChannel"))
	}
	of, err := c.config.LoadChannel(ctx, from.app, from.channel)
	if err == nil && of != nil {
		err = c.verify(ctx, of, request)
	}
	switch code := boterr.CodeOf(err); {
	case err == nil && of != nil:
		return nil
	case isTransient(code), code == boterr.Internal:
		return failed(err)
	default:
		return unauthorized()
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

// run calls receive, and makes a panic in it an error.
func run(ctx context.Context, event botctx.Inbound, receive func(context.Context, botctx.Inbound) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = boterr.New(boterr.Internal, "", "receive panicked: %v", p)
		}
	}()
	return receive(ctx, event)
}
