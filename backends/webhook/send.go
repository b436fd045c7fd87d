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
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// payload is the body of an outbound request.
type payload struct {
	ID            string          `json:"id"`
	App           string          `json:"app"`
	Channel       string          `json:"channel"`
	ChannelType   string          `json:"channelType,omitzero"`
	To            string          `json:"to,omitzero"`
	MemberID      string          `json:"memberId,omitzero"`
	Response      document.Object `json:"response"`
	MessagingType string          `json:"messagingType,omitzero"`
	MessagingTag  string          `json:"messagingTag,omitzero"`
	ReceiverType  string          `json:"receiverType,omitzero"`
	GroupID       string          `json:"groupId,omitzero"`
}

// Send posts a message to the channel's URL. If it gets no usable response, it retries with the same id and
// body and a new signature. It waits as long as a Retry-After header asks (seconds or a date), if
// Config.Retry.Within allows that.
//
// Errors by status, and for a channel that is not set up:
//
//	InvalidArgument     400, 413, 415, 422: the receiver cannot show the message
//	NotFound            404: the recipient does not exist
//	Unsupported         501: the receiver does not support this type of message
//	ResourceExhausted   429, after all attempts
//	FailedPrecondition  410: the recipient can no longer be reached, with a *send.GoneError;
//	                    any other 3xx and 4xx; the channel has no URL or secret, or its
//	                    URL is not allowed
//	no code             408, 425, 5xx or no response, after all attempts
//
// A response with one of the InvalidArgument statuses may have the body {"error": {"field":
// "response.text", "message": "..."}}. Its field, relative to the response, becomes the error's field.
// If ctx ends, Send returns ctx's error.
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
			"the channel has no valid address: set webhookUrl in its metadata to an HTTPS address")
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

// delivery decodes the response to a delivered message. A body other than a JSON object is ignored.
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

// refusal returns the error for a status that a retry would not change. For other statuses it returns nil.
func refusal(got answer, address string) error {
	field, reason := complaint(got.body, address)
	switch got.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return boterr.Invalid(field, "the receiver refused the message with status %d%s", got.status, reason)
	case http.StatusNotFound:
		return boterr.New(boterr.NotFound, "", "the receiver does not know this recipient (status 404)%s", reason)
	case http.StatusGone:
		return boterr.New(boterr.FailedPrecondition, "",
			"the recipient can no longer be reached (status 410)%s: %w", reason, &send.GoneError{})
	case http.StatusNotImplemented:
		return boterr.New(boterr.Unsupported, "", "the receiver does not support this type of message (status 501)%s", reason)
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return nil
	}
	if got.status >= http.StatusInternalServerError {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the receiver answered with status %d%s: check the channel's address and secret", got.status, reason)
}

// complaint returns the field and the message of an error response, if it has them.
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
		reason = ": " + calls.Shortened(withoutAddress(message, address))
	}
	return field, reason
}

// withoutAddress removes the parts of the URL that may contain credentials from a text: the path, the query and
// the query's values.
func withoutAddress(text, address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return text
	}
	hidden := []string{address, parsed.RequestURI(), parsed.EscapedPath(), parsed.Path, parsed.RawQuery}
	for _, values := range parsed.Query() {
		hidden = append(hidden, values...)
	}
	for pair := range strings.SplitSeq(parsed.RawQuery, "&") {
		_, value, _ := strings.Cut(pair, "=")
		hidden = append(hidden, value) // As it is written in the URL.
	}
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // A part may be in a longer one.
	hidden = slices.DeleteFunc(hidden, func(part string) bool { return len(part) < 2 })
	return bounded.Redact(text, hidden...)
}

// reply is the response to an inbound request: a status and a body, or an error of accept.
type reply struct {
	status int
	body   any
	err    error
}

func accepted(id string) *reply {
	return &reply{status: http.StatusOK, body: map[string]string{"id": id, "status": "accepted"}}
}

// refuse returns a reply with an error that has a code.
func refuse(status int, err error) *reply {
	coded, _ := boterr.AsError(err)
	return &reply{status: status, body: map[string]*boterr.Error{"error": coded}}
}

// unauthorized is the reply to every failed check, so it does not reveal the cause.
func unauthorized() *reply {
	return refuse(http.StatusUnauthorized, boterr.New(boterr.FailedPrecondition, "",
		"sign the request with the channel's secret, with the current time; see the headers webhook-id, webhook-timestamp and webhook-signature"))
}

// failed returns a reply with the code of the error, but without its text.
func failed(err error) *reply { return &reply{err: err} }

// write sends the reply. It ignores errors, because the client may be gone.
func (r *reply) write(w http.ResponseWriter) {
	if r.err != nil {
		botctx.WriteHTTPError(w, r.err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r.body) //nolint:errchkjson // All fields are strings.
}

// maxAnswerBytes limits the part of a response that is read.
const maxAnswerBytes = 1 << 20

// post is an outbound request that may be retried.
type post struct {
	target  string
	id      string
	body    []byte
	secrets []channel.Secret
}

// answer is the result of one attempt.
type answer struct {
	status int
	body   []byte
	// after is the delay in the Retry-After header. 0 means no header.
	after time.Duration
	// err is set if no response arrived. It has no code, because the receiver may have the message.
	err error
}

// deliver retries a request until it gets a final response or the attempts are used up.
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
		// The random wait is added, because the receiver may ask all senders for the same delay.
		wait := last.after + c.config.Retry.wait(attempt)
		if attempt >= c.config.Retry.Attempts || wait >= c.config.Retry.Within-c.config.Now().Sub(started) {
			return send.Delivery{}, last.failure(attempt)
		}
		if timelimit.Wait(ctx, wait) != nil {
			return send.Delivery{}, cmp.Or(caller.Err(), last.failure(attempt))
		}
	}
}

// try makes one request. It returns an error only if a retry would not help.
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
	defer resp.Body.Close()                                  //nolint:errcheck // The body has been read.
	if resp.Request != nil && resp.Request.Response != nil { // Only a Doer from the host can follow redirects.
		return answer{}, redirected()
	}
	// Only the status matters. A body that breaks off counts as empty.
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

// unanswered handles an error of the client. If the client refused to make the request, it returns an error,
// because a retry would not help. Otherwise it returns an answer, after which the request is repeated.
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

func redirected() error {
	return boterr.New(boterr.FailedPrecondition, "",
		"the channel's address redirects to another one, and the message was not delivered; set the final address")
}

func (a answer) isTaken() bool { return a.status >= 200 && a.status <= 299 }

// failure returns the error to report after the last attempt.
func (a answer) failure(attempts int) error {
	switch {
	case a.status == http.StatusTooManyRequests && a.after > 0:
		return boterr.New(boterr.ResourceExhausted, "",
			"the receiver is still limiting the rate after %d attempts: %w", attempts, &send.RetryAfterError{After: a.after})
	case a.status == http.StatusTooManyRequests:
		return boterr.New(boterr.ResourceExhausted, "", "the receiver is still limiting the rate after %d attempts; try again later", attempts)
	case a.err != nil:
		return fmt.Errorf("no answer after %d attempts: %w", attempts, a.err)
	default:
		return fmt.Errorf("no answer after %d attempts: the last had status %d", attempts, a.status)
	}
}

// wait returns a random delay before the attempt after this one.
func (r Retry) wait(attempt int) time.Duration {
	most := r.First
	for range attempt - 1 {
		if most >= r.Longest {
			break
		}
		most *= 2
	}
	return rand.N(min(most, r.Longest) + 1) //nolint:gosec // It only spreads the load.
}
