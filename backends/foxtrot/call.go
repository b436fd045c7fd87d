package foxtrot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// request is a call to the API.
type request struct {
	method string
	// path has the segments after the application's path for conversations, and after the API's path for
	// tickets.
	path  []string
	query url.Values
	body  document.Object
	// key is the idempotency key. It may be empty.
	key string
}

// call makes one call and returns the object in the answer. An error without a code means that no readable
// answer came. Errors never contain credentials. If ctx ends, call returns its error.
func (c *Connector) call(ctx context.Context, of account, r request) (document.Object, error) {
	made, err := of.request(ctx, r)
	if err != nil {
		return document.Object{}, err
	}
	client := c.own
	if of.isGiven {
		client = c.others
	}
	answer, err := client.Do(made)
	if err != nil {
		return document.Object{}, bounded.Unanswered(ctx, err, of.secrets...)
	}
	defer answer.Body.Close() //nolint:errcheck // The body has been read.
	body, err := bounded.ReadAll(answer.Body, maxReplyBytes)
	if err != nil {
		return document.Object{}, bounded.Unanswered(ctx, err, of.secrets...)
	}
	var reply document.Object
	isRead := reply.UnmarshalJSON(body) == nil && !reply.IsZero()
	switch {
	case answer.StatusCode >= http.StatusBadRequest:
		return document.Object{}, of.refused(answer.StatusCode, answer.Header, reply, c.config.Now())
	case !isRead || answer.StatusCode > 299:
		return document.Object{}, inbound.ErrUnreadable
	default:
		return reply, nil
	}
}

func (a account) request(ctx context.Context, r request) (*http.Request, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	below := []string{"api", "v2"}
	if !a.isTickets() {
		below = []string{"v2", "apps", a.app}
	}
	address, err := bounded.Address(a.base, slices.Concat(below, r.path)...)
	if err != nil {
		return nil, err
	}
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body []byte
	if !r.body.IsZero() {
		if body, err = document.AppendJSON(nil, r.body); err != nil {
			return nil, err
		}
	}
	made, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New(bounded.Redact(err.Error(), a.secrets...))
	}
	if body != nil {
		made.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		made.Header.Set("Idempotency-Key", r.key)
	}
	made.Header.Set("Authorization", a.authorization())
	return made, nil
}

// refusal is the error of a call that the helpdesk did not carry out.
type refusal struct {
	status int
	text   string
	wait   *send.RetryAfterError
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// Unwrap returns the time to wait if the helpdesk limits the rate.
func (r *refusal) Unwrap() error {
	if r.wait == nil {
		return nil
	}
	return r.wait
}

// isRefusedWith reports whether err is a refusal with this HTTP status.
func isRefusedWith(err error, status int) bool {
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.status == status
}

// meanings maps HTTP statuses to errors. Every other status below 500 is FailedPrecondition.
var meanings = map[int]struct {
	code     boterr.Code
	sentence string
}{
	http.StatusBadRequest:            {boterr.InvalidArgument, sentenceContent},
	http.StatusUnprocessableEntity:   {boterr.InvalidArgument, sentenceContent},
	http.StatusUnauthorized:          {boterr.FailedPrecondition, sentenceKey},
	http.StatusPaymentRequired:       {boterr.FailedPrecondition, "the account is not paid, or its plan does not include this"},
	http.StatusForbidden:             {boterr.FailedPrecondition, sentenceRight},
	http.StatusNotFound:              {boterr.NotFound, "the helpdesk does not have this conversation or ticket"},
	http.StatusRequestEntityTooLarge: {boterr.InvalidArgument, "the message is too long for the helpdesk: the limit is 100 kB as JSON"},
	http.StatusLocked:                {boterr.FailedPrecondition, sentenceFull},
	http.StatusTooManyRequests:       {boterr.ResourceExhausted, "the helpdesk limits the rate of requests"},
}

const (
	sentenceKey     = "the helpdesk does not accept the channel's credentials; create new ones and store them in the channel's info"
	sentenceRight   = "the channel's credentials do not allow this: use a key or an agent with the permission"
	sentenceFull    = "the conversation is full: end it and start another one"
	sentenceContent = "the helpdesk does not accept the request: change the part that it names"

	// defaultWait is the wait if the helpdesk limits the rate and does not give a time.
	defaultWait = 5 * time.Second
	// maxTitleLength limits the part of the helpdesk's text that errors contain, in code points.
	maxTitleLength = 200
)

func (a account) refused(status int, header http.Header, reply document.Object, now time.Time) error {
	if status >= http.StatusInternalServerError {
		return fmt.Errorf("the helpdesk failed with status %d", status)
	}
	means, isKnown := meanings[status]
	if !isKnown {
		means.code, means.sentence = boterr.FailedPrecondition, "the helpdesk refuses the request"
	}
	because := &refusal{status: status, text: means.sentence + " (status " + strconv.Itoa(status) + a.told(reply) + ")"}
	if status == http.StatusTooManyRequests {
		wait, asks := outbound.RetryAfter(header, now)
		if !asks || wait <= 0 {
			wait = defaultWait
		}
		because.wait = &send.RetryAfterError{After: wait}
	}
	return &boterr.Error{Code: means.code, Err: because}
}

// told returns the helpdesk's code and text for a refusal, as refused appends them to its own text.
func (a account) told(reply document.Object) string {
	code := document.Get(reply, "errors[0].code", "")
	title := document.Get(reply, "errors[0].title", "")
	if code == "" && title == "" { // The API for tickets uses these fields.
		code, title = document.Get(reply, "error", ""), document.Get(reply, "description", "")
	}
	if letters := []rune(title); len(letters) > maxTitleLength {
		title = string(letters[:maxTitleLength])
	}
	var text strings.Builder
	for _, part := range []string{code, title} {
		if part != "" && len(part) <= 4*maxTitleLength {
			text.WriteString(", " + boterr.Visible(bounded.Redact(part, a.secrets...)))
		}
	}
	return text.String()
}
