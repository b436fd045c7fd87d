package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// payload is the body of what is sent.
type payload struct {
	ID            string          `json:"id"`
	App           string          `json:"app"`
	Channel       string          `json:"channel"`
	ChannelType   string          `json:"channelType,omitzero"`
	To            string          `json:"to"`
	MemberID      string          `json:"memberId,omitzero"`
	Response      document.Object `json:"response"`
	MessagingType string          `json:"messagingType,omitzero"`
	MessagingTag  string          `json:"messagingTag,omitzero"`
	ReceiverType  string          `json:"receiverType,omitzero"`
	GroupID       string          `json:"groupId,omitzero"`
}

// Send posts a message to the channel's address, and again where no answer came: with the
// same id and body, and a new signature. A header Retry-After of the answer, seconds or a
// date, is obeyed where the time of Config.Retry suffices.
//
// What a status other than 2xx means, and the errors of a channel that is not set up:
//
//	InvalidArgument     400, 413, 415, 422: the message cannot be shown
//	NotFound            404: there is no such recipient
//	Unsupported         501: there is no such type of messages
//	ResourceExhausted   429, after all attempts
//	FailedPrecondition  410: the recipient cannot be written to any more, with a
//	                    *send.GoneError; any other 3xx and 4xx; no address or secret, or an
//	                    address that is refused
//	no code             408, 425, 5xx and no answer, after all attempts
//
// The answer to an InvalidArgument may say {"error": {"field": "response.text", "message":
// "..."}}; the field becomes that of the error, relative to the response. When ctx ends, Send
// returns its error.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	endpoint, err := c.endpoint(ctx, message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	target, err := outbound.ParseURL(endpoint.URL)
	if err != nil {
		return send.Delivery{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel has no usable address: set webhookUrl in its metadata to an address of https")
	}
	body, err := json.Marshal(payloadOf(message))
	if err != nil {
		return send.Delivery{}, boterr.Invalid("response", "cannot be written as JSON: %w", err)
	}
	p := post{target: target.String(), id: message.ID, body: body, secrets: endpoint.Secrets}
	return c.deliver(ctx, p)
}

func payloadOf(message send.Message) payload {
	p := payload{
		ID:            message.ID,
		App:           message.Channel.App,
		Channel:       message.Channel.ID,
		ChannelType:   string(message.Channel.Type),
		To:            message.To,
		Response:      message.Response.Object(),
		MessagingType: message.MessagingType,
		MessagingTag:  message.MessagingTag,
		ReceiverType:  message.ReceiverType,
		GroupID:       message.GroupID,
	}
	if message.Member != nil {
		p.MemberID = message.Member.ID
	}
	return p
}

// delivery reads the answer to a message that is taken. One that is no JSON object says
// nothing: the message is taken all the same.
func delivery(body []byte) send.Delivery {
	value, err := document.ParseJSON(body)
	reply, isObject := value.(document.Object)
	if err != nil || !isObject {
		return send.Delivery{}
	}
	return send.Delivery{
		Reply:     reply,
		MessageID: document.Get(reply, "messageId", ""),
		ChatID:    document.Get(reply, "chatId", ""),
		From:      document.Get(reply, "from", ""),
		Timestamp: document.Timestamp(document.Get(reply, "timestamp", int64(0))),
	}
}

// refusal returns the error of a status that another attempt would not change, nil for one
// that it may.
func refusal(got answer, address string) error {
	field, reason := complaint(got.body, address)
	switch got.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return boterr.Invalid(field, "the receiver refused the message with status %d%s", got.status, reason)
	case http.StatusNotFound:
		return boterr.New(boterr.NotFound, "", "the receiver knows no such recipient (status 404)%s", reason)
	case http.StatusGone:
		return boterr.New(boterr.FailedPrecondition, "",
			"the recipient cannot be written to any more (status 410)%s: %w", reason, &send.GoneError{})
	case http.StatusNotImplemented:
		return boterr.New(boterr.Unsupported, "", "the receiver has no such type of messages (status 501)%s", reason)
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return nil
	}
	if got.status >= http.StatusInternalServerError {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"check the secret and the address of the channel, which answered with status %d%s", got.status, reason)
}

// complaint returns what the answer says: the path in the response, and a sentence.
func complaint(body []byte, address string) (field, reason string) {
	value, err := document.ParseJSON(body)
	answer, isObject := value.(document.Object)
	if err != nil || !isObject {
		return "", ""
	}
	field = strings.TrimPrefix(strings.TrimPrefix(document.Get(answer, "error.field", ""), "response"), ".")
	if len(field) > maxIDBytes {
		field = ""
	}
	if message := document.Get(answer, "error.message", ""); message != "" {
		reason = ": " + shortened(withoutAddress(message, address))
	}
	return field, reason
}

func shortened(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// withoutAddress returns a text without the parts of an address that may be credentials: its path,
// its query, and the values in that.
func withoutAddress(text, address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return text
	}
	hidden := []string{address, parsed.RequestURI(), parsed.EscapedPath(), parsed.Path, parsed.RawQuery}
	for _, values := range parsed.Query() {
		hidden = append(hidden, values...)
	}
	for _, part := range hidden {
		if len(part) > 1 {
			text = strings.ReplaceAll(text, part, "[redacted]")
		}
	}
	return text
}

// reply is the answer to a request that arrived: a status and a body, or what accept returned.
type reply struct {
	status int
	body   any
	err    error
}

// acceptance is the body of a reply to a request that was taken.
type acceptance struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// problem is the body of a reply to one that was not.
type problem struct {
	Error problemError `json:"error"`
}

type problemError struct {
	Code    boterr.Code `json:"code"`
	Field   string      `json:"field,omitzero"`
	Message string      `json:"message"`
}

// accepted says that a request was taken.
func accepted(id string) *reply {
	return &reply{status: http.StatusOK, body: acceptance{ID: id, Status: "accepted"}}
}

// refuse says what is wrong with a request.
func refuse(status int, err error) *reply {
	told := problemError{Code: boterr.CodeOf(err)}
	if coded, ok := boterr.AsError(err); ok {
		told.Field, told.Message = coded.Field, coded.Message()
	}
	return &reply{status: status, body: problem{told}}
}

// unauthorized is the answer to whatever is not signed as it should be.
func unauthorized() *reply {
	return refuse(http.StatusUnauthorized, boterr.New(boterr.FailedPrecondition, "",
		"sign the request with the channel's secret, with a present time; see the headers webhook-id, webhook-timestamp and webhook-signature"))
}

// failed says that a request could not be taken, by the code of the error alone.
func failed(err error) *reply { return &reply{err: err} }

// write sends the reply. The sender may be gone, which changes nothing.
func (r *reply) write(w http.ResponseWriter) {
	if r.err != nil {
		botctx.WriteHTTPError(w, r.err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r.body) //nolint:errchkjson // These are strings.
}

// maxAnswerBytes is how much of an answer is read.
const maxAnswerBytes = 1 << 20

// post is a request that may be made several times.
type post struct {
	target  string
	id      string
	body    []byte
	secrets []channel.Secret
}

// answer is what came of one attempt.
type answer struct {
	status int
	body   []byte
	// after is how long the receiver wants to be left alone, 0 where it does not say.
	after time.Duration
	// err is why no answer came, without a code: it is not known what came of the message.
	err error
}

// deliver makes a request until it is answered.
func (c *Connector) deliver(caller context.Context, p post) (send.Delivery, error) {
	ctx, cancel := context.WithTimeout(caller, c.config.Retry.Within)
	defer cancel()
	started := c.config.Now()
	for attempt := 1; ; attempt++ {
		last, err := c.try(ctx, p)
		if err == nil && last.isTaken() {
			return delivery(last.body), nil
		}
		if ended := caller.Err(); ended != nil {
			return send.Delivery{}, ended
		}
		if err != nil {
			return send.Delivery{}, err
		}
		// On top of what the receiver asks for, since it asks all senders for the same.
		wait := last.after + c.config.Retry.wait(attempt)
		if attempt >= c.config.Retry.Attempts || wait >= c.config.Retry.Within-c.config.Now().Sub(started) {
			return send.Delivery{}, last.failure(attempt)
		}
		if !pause(ctx, wait) {
			return send.Delivery{}, cmp.Or(caller.Err(), last.failure(attempt))
		}
	}
}

// try makes a request once. The error is one that another attempt would not change.
func (c *Connector) try(ctx context.Context, p post) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target, bytes.NewReader(p.body))
	if err != nil {
		return answer{}, boterr.New(boterr.FailedPrecondition, "", "the channel's address cannot be used: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", p.id)
	if err := Sign(req.Header, p.id, c.config.Now(), p.body, p.secrets...); err != nil {
		return answer{}, boterr.New(boterr.FailedPrecondition, "", "the message cannot be signed: %w", err)
	}
	resp, err := c.config.HTTP.Do(req)
	if err != nil {
		return unanswered(err, p.target)
	}
	defer resp.Body.Close()                                  //nolint:errcheck // The body has been read; closing it tells nothing.
	if resp.Request != nil && resp.Request.Response != nil { // A Doer of the host has followed a redirect.
		return answer{}, redirected()
	}
	// The status alone decides: where the rest of the answer breaks off, there is none.
	body, err := bounded.ReadAll(resp.Body, maxAnswerBytes)
	if err != nil {
		body = nil
	}
	after, _ := outbound.RetryAfter(resp.Header, c.config.Now())
	got := answer{status: resp.StatusCode, body: body, after: after}
	if got.isTaken() {
		return got, nil
	}
	return got, refusal(got, p.target)
}

// unanswered tells requests that were refused here, which a retry does not change, from those that
// got no answer.
func unanswered(err error, target string) (answer, error) {
	if _, isRedirect := errors.AsType[*bounded.RedirectError](err); isRedirect {
		return answer{}, redirected()
	}
	switch coded, _ := boterr.AsError(err); {
	case coded == nil, coded.Code == boterr.Unavailable, coded.Code == boterr.Canceled, coded.Code == boterr.Internal:
		return answer{err: errors.New(withoutAddress(err.Error(), target))}, nil
	default:
		return answer{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel's address cannot be used: %s", coded.Message())
	}
}

// redirected is the error of an address that sends requests to another one.
func redirected() error {
	return boterr.New(boterr.FailedPrecondition, "",
		"the channel's address leads elsewhere, and the message did not arrive; give the final address")
}

// isTaken reports whether the receiver has the message.
func (a answer) isTaken() bool { return a.status >= 200 && a.status <= 299 }

// failure is the error after the last attempt.
func (a answer) failure(attempts int) error {
	switch {
	case a.status == http.StatusTooManyRequests && a.after > 0:
		return boterr.New(boterr.ResourceExhausted, "",
			"the receiver takes no more for now, after %d attempts: %w", attempts, &send.RetryAfterError{After: a.after})
	case a.status == http.StatusTooManyRequests:
		return boterr.New(boterr.ResourceExhausted, "", "the receiver takes no more for now, after %d attempts: try again later", attempts)
	case a.err != nil:
		return fmt.Errorf("no answer after %d attempts: %w", attempts, a.err)
	default:
		return fmt.Errorf("no answer after %d attempts: the last had status %d", attempts, a.status)
	}
}

// wait returns a random time before the attempt after the given one.
func (r Retry) wait(attempt int) time.Duration {
	most := r.First
	for range attempt - 1 {
		if most >= r.Longest {
			break
		}
		most *= 2
	}
	return rand.N(min(most, r.Longest) + 1) //nolint:gosec // It spreads load; nobody gains by guessing it.
}

// pause waits, and reports whether the context lasted so long. The wait does not count as time of the call.
func pause(ctx context.Context, wait time.Duration) bool {
	call := timelimit.Of(ctx)
	call.Pause()
	defer call.Restart()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
