package echo

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

const (
	// maxReplyBytes is the largest answer that is read.
	maxReplyBytes = 1 << 20
	// fileTime limits the time to fetch or upload a file.
	fileTime = time.Minute
)

// client calls the API. It is safe for concurrent use.
type client struct {
	base         string
	now          func() time.Time
	calls, files *http.Client
}

// request is a call to the API. It is a GET if it has neither body nor form, and otherwise a POST.
type request struct {
	path  string
	query url.Values
	// body is sent as JSON, unless it is zero. form, with the media type formType, is sent if there is no body.
	body     document.Object
	form     []byte
	formType string
	// isToken is true for the request for an access token, which is sent without one.
	isToken bool
}

// call makes a call with the account's access token. If the platform refuses the token, call tries once more
// with a new one. This is safe because a refused request has no effect.
func (c *Connector) call(ctx context.Context, from account, r request) (document.Object, error) {
	var reply document.Object
	err := c.withToken(ctx, from, func(token string) (err error) {
		reply, err = c.client.ask(ctx, from, token, r)
		return err
	})
	return reply, err
}

// withToken calls do with an access token of the account. If the platform refuses the token, withToken calls do
// once more with another one.
func (c *Connector) withToken(ctx context.Context, from account, do func(token string) error) error {
	token, err := c.tokens.of(ctx, from, "")
	if err != nil {
		return err
	}
	err = do(token)
	if !slices.Contains(tokenCodes, calls.RefusalIn(err).Code) {
		return err
	}
	if token, err = c.tokens.of(ctx, from, token); err != nil {
		return err
	}
	return do(token)
}

// ask makes one call and returns the object in the answer. An error without a code means that no readable
// answer came. Errors never contain credentials. If ctx ends, ask returns its error.
func (c *client) ask(ctx context.Context, from account, token string, r request) (document.Object, error) {
	with := c.calls
	if r.form != nil {
		with = c.files // Files take longer.
	}
	sent := c.requestOf(from, token, r)
	answer, err := calls.Do(ctx, with, sent, maxReplyBytes)
	if err != nil {
		return document.Object{}, err
	}
	return c.read(answer, sent.Secrets, !r.isToken && r.form == nil)
}

// requestOf returns the request of a call with a token.
func (c *client) requestOf(from account, token string, r request) calls.Request {
	query := url.Values{}
	maps.Copy(query, r.query)
	if !r.isToken {
		query.Set("access_token", token)
	}
	method := http.MethodPost
	if r.body.IsZero() && r.form == nil {
		method = http.MethodGet
	}
	// Requests do not escape <, > and & in JSON. The platform would show the escapes.
	return calls.Request{
		Method: method, URL: c.base + r.path, Query: query, JSON: r.body, Body: r.form, BodyType: r.formType, Secrets: from.secrets(token),
	}
}

// secrets returns the texts that errors must not contain.
func (a account) secrets(token string) []string {
	var all []string
	for _, secret := range []string{token, a.info.AccessToken.Reveal(), a.info.Appsecret.Reveal(), a.token, a.key} {
		all = append(all, secret, url.QueryEscape(secret))
	}
	return all
}

// read parses an answer and returns its object, or an error for its errcode. The platform nearly always answers
// with status 200. If needsCode is true, an answer without an errcode is an error, too.
func (c *client) read(answer calls.Answer, secrets []string, needsCode bool) (document.Object, error) {
	status, reply := answer.Status, answer.Object()
	code := document.Get(reply, "errcode", int64(0))
	switch {
	case status == http.StatusTooManyRequests:
		wait, asks := outbound.RetryAfter(answer.Header, c.now())
		if !asks {
			wait = time.Minute
		}
		return document.Object{}, boterr.New(boterr.ResourceExhausted, "",
			"the platform is limiting the rate of requests: %w", &send.RetryAfterError{After: wait})
	case status >= http.StatusInternalServerError:
		return document.Object{}, fmt.Errorf("the platform failed with status %d", status)
	case code != 0:
		return document.Object{}, c.refused(code, bounded.Redact(document.Get(reply, "errmsg", ""), secrets...))
	case status >= http.StatusBadRequest:
		return document.Object{}, boterr.New(boterr.FailedPrecondition, "",
			"the answer, with status %d, is not from the platform: check Config.APIURL and the proxy", status)
	case reply.IsZero() || needsCode && document.Get(reply, "errcode", int64(-1)) != 0:
		return document.Object{}, calls.ErrUnreadable
	default:
		return reply, nil
	}
}

// refused returns the error for an errcode.
func (c *client) refused(code int64, message string) error {
	message = boterr.Visible(calls.Shortened(message))
	means, isKnown := meanings[code]
	if !isKnown {
		means = calls.Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceOther}
	}
	if code == codeDailyLimit {
		means.Wait = untilMidnight(c.now())
	}
	word := strconv.FormatInt(code, 10)
	name := "errcode " + word
	if message != "" {
		name += ": " + message
	}
	return means.Error(name, calls.RefusalError{Code: word, Message: message})
}

// untilMidnight returns the time until the end of the day in Beijing.
func untilMidnight(now time.Time) time.Duration {
	at := now.In(time.FixedZone("Beijing", 8*60*60))
	midnight := time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, at.Location())
	return min(midnight.Sub(at), boterr.MaxRetryAfter)
}

const (
	codeUnknownMember = 40003
	codeMemberOfOther = 49003
	codeDailyLimit    = 45009

	sentenceToken  = "the platform does not accept the account's access token; check appId and appsecret of the channel's info"
	sentenceBusy   = "the platform failed temporarily; try again later"
	sentenceOther  = "the platform refuses the request: look up the errcode in its list of return codes"
	sentenceMember = "the account has no member with that id"
)

// tokenCodes are the errcodes with which the platform refuses an access token.
var tokenCodes = []string{"40001", "40014", "42001"}

// meanings maps errcodes to their meanings.
var meanings = map[int64]calls.Meaning{
	-1:                {Sentence: sentenceBusy},
	61450:             {Sentence: sentenceBusy},
	40001:             {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	40014:             {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	42001:             {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	codeUnknownMember: {Code: boterr.NotFound, Sentence: sentenceMember},
	codeMemberOfOther: {Code: boterr.NotFound, Sentence: sentenceMember},
	40007: {
		Code: boterr.InvalidArgument, Field: "attachment_id",
		Sentence: "the platform has no file with that id, or no longer has it: files are kept for three days",
	},
	40013: {Code: boterr.FailedPrecondition, Sentence: "the platform does not know the account: check appId of the channel's info"},
	40125: {Code: boterr.FailedPrecondition, Sentence: "the account's secret is wrong: check appsecret of the channel's info"},
	40164: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the platform does not accept calls from this server: add the server's IP address to the account's allow list",
	},
	43004: {
		Code: boterr.FailedPrecondition, IsGone: true,
		Sentence: "the member no longer follows the account",
	},
	43019: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the account has blocked the member: remove the member from its blacklist",
	},
	44004: {Code: boterr.InvalidArgument, Field: "text", Sentence: "the message is empty"},
	45002: {Code: boterr.InvalidArgument, Field: "text", Sentence: "the message is too long for the platform: shorten it"},
	45008: {Code: boterr.InvalidArgument, Field: "articles", Sentence: "a message can only have one article: send a message for each"},
	codeDailyLimit: {
		Code:     boterr.ResourceExhausted,
		Sentence: "the account has used all its calls of this day; try again after midnight in Beijing",
	},
	45011: {Code: boterr.ResourceExhausted, Wait: time.Minute, Sentence: "the platform limits the account's calls per minute"},
	45015: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the member's last message is more than 48 hours old: wait until the member writes again",
	},
	45047: {
		Code: boterr.FailedPrecondition,
		Sentence: "the member has already got the 5 messages allowed after a message, or the 3 allowed after a tap or a follow: " +
			"wait until the member writes, and put more into one message",
	},
	codeTooManyTags: {Code: boterr.FailedPrecondition, Sentence: "the member already has the maximum number of tags: remove one first"},
	codeInvalidTag:  {Code: boterr.InvalidArgument, Sentence: "the account has no tag with that id"},
	48001: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the account may not use this part of the API: verify it, or use an account type that may",
	},
	50002: {Code: boterr.FailedPrecondition, Sentence: "the platform has restricted the account or the member"},
}
