package foxtrot

import (
	"context"
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
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/outbound"
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
	below := []string{"api", "v2"}
	if !of.isTickets() {
		below = []string{"v2", "apps", of.app}
	}
	address, err := bounded.Address(of.base, slices.Concat(below, r.path)...)
	if err != nil {
		return document.Object{}, err
	}
	header := calls.Authorized("Basic", of.authorization())
	if r.key != "" {
		header.Set("Idempotency-Key", r.key)
	}
	client := c.own
	if of.isGiven {
		client = c.others
	}
	answer, err := calls.Do(ctx, client, calls.Request{
		Method: r.method, URL: address, Query: r.query, Header: header, JSON: r.body, Secrets: of.secrets,
	}, maxReplyBytes)
	switch reply := answer.Object(); {
	case err != nil:
		return document.Object{}, err
	case answer.Status >= http.StatusBadRequest:
		return document.Object{}, of.refused(answer, reply, c.config.Now())
	case reply.IsZero() || answer.Status > 299:
		return document.Object{}, calls.ErrUnreadable
	default:
		return reply, nil
	}
}

// meanings maps HTTP statuses to errors. Every other status below 500 is FailedPrecondition.
var meanings = map[int]calls.Meaning{
	http.StatusBadRequest:          {Code: boterr.InvalidArgument, Sentence: sentenceContent},
	http.StatusUnprocessableEntity: {Code: boterr.InvalidArgument, Sentence: sentenceContent},
	http.StatusUnauthorized:        {Code: boterr.FailedPrecondition, Sentence: sentenceKey},
	http.StatusPaymentRequired: {
		Code: boterr.FailedPrecondition, Sentence: "the account is not paid, or its plan does not include this",
	},
	http.StatusForbidden: {Code: boterr.FailedPrecondition, Sentence: sentenceRight},
	http.StatusNotFound:  {Code: boterr.NotFound, Sentence: "the helpdesk does not have this conversation or ticket"},
	http.StatusRequestEntityTooLarge: {
		Code: boterr.InvalidArgument, Sentence: "the message is too long for the helpdesk: the limit is 100 kB as JSON",
	},
	http.StatusLocked: {Code: boterr.FailedPrecondition, Sentence: sentenceFull},
	http.StatusTooManyRequests: {
		Code: boterr.ResourceExhausted, Sentence: "the helpdesk limits the rate of requests", Wait: 5 * time.Second,
	},
}

const (
	sentenceKey     = "the helpdesk does not accept the channel's credentials; create new ones and store them in the channel's info"
	sentenceRight   = "the channel's credentials do not allow this: use a key or an agent with the permission"
	sentenceFull    = "the conversation is full: end it and start another one"
	sentenceContent = "the helpdesk does not accept the request: change the part that it names"
)

func (a account) refused(answer calls.Answer, reply document.Object, now time.Time) error {
	if answer.Status >= http.StatusInternalServerError {
		return fmt.Errorf("the helpdesk failed with status %d", answer.Status)
	}
	means, isKnown := meanings[answer.Status]
	if !isKnown {
		means = calls.Meaning{Code: boterr.FailedPrecondition, Sentence: "the helpdesk refuses the request"}
	}
	wait, _ := outbound.RetryAfter(answer.Header, now)
	return means.Error("status "+strconv.Itoa(answer.Status)+a.told(reply), calls.RefusalError{Status: answer.Status, Wait: wait})
}

// told returns the helpdesk's code and text for a refusal, as refused appends them to its own text.
func (a account) told(reply document.Object) string {
	code := document.Get(reply, "errors[0].code", "")
	title := document.Get(reply, "errors[0].title", "")
	if code == "" && title == "" { // The API for tickets uses these fields.
		code, title = document.Get(reply, "error", ""), document.Get(reply, "description", "")
	}
	var text strings.Builder
	for _, part := range []string{code, calls.Shortened(title)} {
		if part != "" && len(part) <= 4*calls.MaxMessage {
			text.WriteString(", " + boterr.Visible(bounded.Redact(part, a.secrets...)))
		}
	}
	return text.String()
}
