package webhook

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
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
func (c *Connector) Handler(receive func(ctx context.Context, inbound botctx.Inbound) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, refused := c.read(w, r)
		if refused != nil {
			refused.write(w)
			return
		}
		c.take(r.Context(), r.Header, body, receive).write(w)
	})
}

// read returns the body of a request, or why it is refused.
func (c *Connector) read(w http.ResponseWriter, r *http.Request) ([]byte, *reply) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, refuse(http.StatusMethodNotAllowed, boterr.Invalid("", "the method must be POST"))
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, boterr.Invalid("", "the content-type must be application/json"))
	}
	// A deadline in the past ends a read that is under way. A writer without deadlines leaves
	// it to the server's own.
	controller := http.NewResponseController(w)
	timer := time.AfterFunc(c.config.Inbound.BodyTime, func() { _ = controller.SetReadDeadline(time.Unix(1, 0)) })
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, c.config.Inbound.MaxBytes))
	inTime := timer.Stop()
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, refuse(http.StatusRequestEntityTooLarge, boterr.Invalid("", "the body must have at most %d bytes", tooLong.Limit))
	}
	if !inTime {
		w.Header().Set("Connection", "close")
		return nil, refuse(http.StatusRequestTimeout, boterr.Invalid("", "the body must arrive within %s", c.config.Inbound.BodyTime))
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, boterr.Invalid("", "the body broke off"))
	}
	return body, nil
}

// take verifies a request, and runs what answers it.
func (c *Connector) take(
	ctx context.Context, header http.Header, body []byte, receive func(context.Context, botctx.Inbound) error,
) *reply {
	now := c.config.Now()
	signed, err := readSignature(header, now, c.config.Inbound.Tolerance)
	if err != nil {
		return unauthorized()
	}
	read, err := parse(body)
	if err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	if refused := c.authenticate(ctx, signed, read, body); refused != nil {
		return refused
	}
	inbound, err := read.inbound(signed.id, document.At(now))
	if err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	// Cloned, so that what is remembered does not hold on to whole bodies.
	key := replayKey{app: strings.Clone(read.App), channel: strings.Clone(read.Channel), id: strings.Clone(signed.id)}
	switch c.seen.begin(key, now) {
	case isDone:
		return accept(signed.id, "duplicate")
	case isActive:
		return refuse(http.StatusConflict, boterr.New(boterr.Conflict, "", "a request of this id is under way; try again later"))
	case isNew:
	}
	if err := run(context.WithoutCancel(ctx), inbound, receive); err != nil {
		c.seen.fail(key)
		return failed(err)
	}
	c.seen.succeed(key, c.config.Now())
	return accept(signed.id, "done")
}

// authenticate checks that a request is signed with a secret of the channel that it names.
// Who has no secret does not learn which channels there are.
func (c *Connector) authenticate(ctx context.Context, signed signed, read request, body []byte) *reply {
	if c.config.LoadChannel == nil {
		return refuse(http.StatusInternalServerError, boterr.New(boterr.Internal, "", "the receiver is not set up: it needs Config.LoadChannel"))
	}
	of, err := c.config.LoadChannel(ctx, read.App, read.Channel)
	if err == nil && of != nil {
		err = c.verify(ctx, of, signed, body)
	}
	switch code := boterr.CodeOf(err); {
	case err == nil && of != nil:
		return nil
	case code == boterr.Unavailable, code == boterr.Canceled, code == boterr.Internal:
		return failed(err)
	default:
		return unauthorized()
	}
}

// verify checks the signature of a request by the secrets of a channel.
func (c *Connector) verify(ctx context.Context, of *channel.Channel, signed signed, body []byte) error {
	endpoint, err := c.endpoint(ctx, of)
	if err != nil {
		return err
	}
	return signed.verify(body, endpoint.Secrets)
}

// run calls receive, and makes a panic in it an error.
func run(ctx context.Context, inbound botctx.Inbound, receive func(context.Context, botctx.Inbound) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = boterr.New(boterr.Internal, "", "receive panicked: %v", p)
		}
	}()
	return receive(ctx, inbound)
}
