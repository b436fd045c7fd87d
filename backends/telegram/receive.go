package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// Accept stores an event and recognises repeated ones. Usually it is the method Accept of a Runtime.
type Accept = func(ctx context.Context, event botctx.Inbound) error

// errNotSetUp is the error of a Connector that cannot receive.
var errNotSetUp = boterr.New(boterr.FailedPrecondition, "", "the receiver is not set up: it needs Config.Store or Config.LoadChannel")

func (c *Connector) load(ctx context.Context, app, id string) (*channel.Channel, credentials, error) {
	if c.config.LoadChannel == nil {
		return nil, credentials{}, errNotSetUp
	}
	in, err := c.config.LoadChannel(ctx, app, id)
	if err != nil {
		return nil, credentials{}, err
	}
	of, err := credentialsOf(in)
	return in, of, err
}

// receiver returns a Receiver for the updates of a channel. It logs the errors for which logs returns true. After
// InvalidArgument, an update is dropped: it would never be accepted, and would block later updates.
func (c *Connector) receiver(app, id string, accept Accept, logs func(error) bool) inbound.Receiver {
	return inbound.Receiver{
		Platform: Type, Accept: accept, Drops: c.config.Drops, BodyTime: c.config.BodyTime, DropsOnlyInvalid: true,
		OnError: func(ctx context.Context, event botctx.Inbound, err error) {
			if logs(err) {
				c.config.Logger.LogAttrs(ctx, slog.LevelWarn, "telegram: update not accepted", slog.String("app", app),
					slog.String("channel", id), slog.String("type", string(event.Event.Type)), slog.String("error", err.Error()))
			}
		},
	}
}

// take passes an update's event to Accept. It returns nil if the event is stored, or if the update is dropped
// and counted. Otherwise Telegram must send the update again.
func take(ctx context.Context, u update, r inbound.Receiver) error {
	passed := inbound.Report{Receiver: r}
	passed.Pass(context.WithoutCancel(ctx), u.in, u.event())
	return passed.Failed
}

// acknowledge ends the progress indicator of a tapped button, and removes quick replies. Failures are only
// logged, because the tap itself was accepted.
func (c *Connector) acknowledge(ctx context.Context, u update) {
	if u.kind != kindCallback {
		return
	}
	_, err := c.call(ctx, u.in, "answerCallbackQuery", document.O("callback_query_id", document.Get(u.object, "id", "")))
	_, isReply := payloadOf(document.Get(u.object, "data", ""))
	if message := u.message(); isReply && !message.IsZero() {
		chat := address{chat: idText(message, "chat.id")}
		_, errReply := c.call(ctx, u.in, "editMessageReplyMarkup", messageParams(chat.chat, idText(message, "message_id")))
		if !saysAny(errReply, "message is not modified") {
			err = errors.Join(err, errReply)
		}
	}
	if err != nil {
		c.config.Logger.LogAttrs(ctx, slog.LevelDebug, "telegram: tap not acknowledged",
			slog.String("app", u.in.App), slog.String("channel", u.in.ID), slog.String("error", err.Error()))
	}
}

// secretHeader is the header with a webhook's secret.
const secretHeader = "X-Telegram-Bot-Api-Secret-Token" //nolint:gosec // It is the name of a header.

// Handler returns a handler for webhooks, which passes the events of updates to accept. Its path names the
// channel:
//
//	http.Handle("POST /telegram/{app}/{channel}", connector.Handler(rt.Accept))
//
// The channel's info needs secretToken. Call SetWebhook to give Telegram the handler's address. The package
// documentation describes the events. The handler answers after accept returns:
//
//	200  the event is stored, or it is dropped and counted in Config.Drops; Telegram does not repeat it
//	401  the header X-Telegram-Bot-Api-Secret-Token is missing or wrong, or there is no such channel, or it has no
//	     secret, which Config.Drops logs; the answer does not reveal which
//	400, 405, 408, 413
//	     the body is not an update, the request is not a POST, its body came too slowly or is too long
//	503  with Retry-After: the channel cannot be looked up now, or accept returned ResourceExhausted or
//	     Unavailable. Telegram repeats the update
//
// For other errors of accept, the status is from botctx.HTTPStatus, and Telegram repeats the update. After
// InvalidArgument, the update is dropped instead.
func (c *Connector) Handler(accept Accept) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !inbound.RequireMethod(w, r, http.MethodPost) {
			return
		}
		h := c.receiver(r.PathValue("app"), r.PathValue("channel"), accept, func(error) bool { return true })
		in, of, err := c.authenticate(r)
		if err != nil {
			inbound.LeaveUnread(w)
			h.Refuse(w, r, err)
			return
		}
		body, isRead := h.ReadBody(w, r)
		if !isRead {
			return
		}
		var told document.Object
		if told.UnmarshalJSON(body) != nil || told.IsZero() {
			h.Drop(r.Context(), in, "update", send.DropInvalid)
			http.Error(w, "the body is not an update", http.StatusBadRequest)
			return
		}
		u := readUpdate(in, of, told)
		if err := take(r.Context(), u, h); err != nil {
			botctx.WriteHTTPError(w, err)
			return
		}
		w.Header().Set("Content-Length", "0") // This completes the answer before the tap is acknowledged.
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		c.acknowledge(context.WithoutCancel(r.Context()), u)
	})
}

// errUnauthorized is the error for a request that is not from Telegram.
const errUnauthorized inbound.UnverifiedError = "the request's secret token belongs to no channel of this host"

// authenticate returns the channel of a request with the channel's secret.
func (c *Connector) authenticate(r *http.Request) (*channel.Channel, credentials, error) {
	given := r.Header.Get(secretHeader)
	if given == "" {
		return nil, credentials{}, errUnauthorized
	}
	ctx, cancel := context.WithTimeout(r.Context(), inbound.LookUpTime)
	defer cancel()
	in, of, err := c.load(ctx, r.PathValue("app"), r.PathValue("channel"))
	if err == nil {
		err = of.checkSecret(in)
	}
	switch {
	case err == nil:
	case errors.Is(err, errNotSetUp):
		return nil, credentials{}, err
	case boterr.CodeOf(err) == boterr.FailedPrecondition && in != nil:
		c.config.Drops.AddUnverified(r.Context(), in, err)
		return nil, credentials{}, errUnauthorized
	case record.IsPermanent(err):
		return nil, credentials{}, errUnauthorized // There is no such channel, or its info is invalid.
	default:
		return nil, credentials{}, err
	}
	if !inbound.IsSecret(of.secretToken, given) {
		return nil, credentials{}, errUnauthorized
	}
	return in, of, nil
}

// secretForm matches the secrets that Telegram accepts.
var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// checkSecret returns FailedPrecondition if the channel has no valid secret for webhooks.
func (c credentials) checkSecret(in *channel.Channel) error {
	if secretForm.MatchString(c.secretToken) {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the channel %s has no valid secretToken; set it in its info to 1 to 256 letters, digits, _ and -", in.ID)
}

// SetWebhook makes Telegram send a channel's updates to a Handler at an HTTPS address, with secretToken of the
// channel's info. With an empty address it removes the webhook, so that Poll works again.
func (c *Connector) SetWebhook(ctx context.Context, in *channel.Channel, address string) error {
	of, err := credentialsOf(in)
	if err != nil {
		return err
	}
	params := document.O("url", address)
	if address != "" {
		if err := of.checkSecret(in); err != nil {
			return err
		}
		params = params.With("secret_token", of.secretToken).With("allowed_updates", c.config.Updates)
	}
	_, err = c.call(ctx, in, "setWebhook", params)
	return err
}

// MaxFileBytes is the largest file that Open can read. It is Telegram's limit for bots.
const MaxFileBytes = 20 << 20

// pathForm matches paths of files on Telegram's server.
var pathForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_./-]*$`)

// Open returns the content of a file that a member sent, by the attachment_id in the event. Callers must close
// it. Config.PollTime and Config.Timeout together limit the time for reading.
//
// NotFound: Telegram does not know the file. InvalidArgument: the file is too large for bots. The file's
// address is not returned, because it contains the bot's token.
func (c *Connector) Open(ctx context.Context, in *channel.Channel, attachmentID string) (io.ReadCloser, error) {
	result, err := c.call(ctx, in, "getFile", document.O("file_id", attachmentID))
	switch {
	case saysAny(err, "wrong file|wrong remote file|invalid file"):
		return nil, boterr.New(boterr.NotFound, "attachmentID", "this bot has no such file: %s", calls.RefusalIn(err).Text)
	case errors.Is(err, boterr.InvalidArgument):
		return nil, boterr.WithField("attachmentID", err)
	case err != nil:
		return nil, err
	}
	of, err := credentialsOf(in)
	if err != nil {
		return nil, err
	}
	found, _ := result.(document.Object)
	path := document.Get(found, "file_path", "")
	if !pathForm.MatchString(path) || strings.Contains(path, "..") {
		return nil, boterr.New(boterr.Unsupported, "", "the Bot API's address serves no files: do not run the server in local mode")
	}
	resp, err := calls.Open(ctx, c.files, calls.Request{
		Method: http.MethodGet, URL: c.config.APIURL + "/file/bot" + of.token + "/" + path, Secrets: of.secrets(),
	})
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, errors.Join(fmt.Errorf("telegram returned no file, but status %d", resp.StatusCode), resp.Body.Close())
	}
	return resp.Body, nil
}
