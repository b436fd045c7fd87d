package echo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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

// baseURL returns the address of the API without a trailing slash.
func baseURL(text string) (string, error) {
	text = strings.TrimSuffix(text, "/")
	if _, isBase := bounded.ParseBase(text); !isBase {
		return "", boterr.Invalid("APIURL", "is not an HTTP or HTTPS address; give one such as https://api.weixin.qq.com")
	}
	return text, nil
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
	if refused, ok := errors.AsType[*refusal](err); !ok || !meanings[refused.code].isToken {
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
	secrets, with := from.secrets(token), c.calls
	if r.form != nil {
		with = c.files // Files take longer.
	}
	answer, err := c.send(ctx, with, secrets, token, r)
	if err != nil {
		return document.Object{}, err
	}
	defer answer.Body.Close() //nolint:errcheck // The body has been read.
	body, err := bounded.ReadAll(answer.Body, maxReplyBytes)
	if err != nil {
		return document.Object{}, bounded.Unanswered(ctx, err, secrets...)
	}
	return c.read(answer, body, secrets, !r.isToken && r.form == nil)
}

// send sends a request. Callers must close the body of the answer.
func (c *client) send(ctx context.Context, with *http.Client, secrets []string, token string, r request) (*http.Response, error) {
	query := url.Values{}
	maps.Copy(query, r.query)
	if !r.isToken {
		query.Set("access_token", token)
	}
	body, kind, method := r.form, r.formType, http.MethodPost
	if !r.body.IsZero() {
		// AppendJSON does not escape <, > and &. The platform would show the escapes.
		text, err := document.AppendJSON(nil, r.body)
		if err != nil {
			return nil, err
		}
		body, kind = text, "application/json"
	}
	if body == nil {
		method = http.MethodGet
	}
	address := c.base + r.path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	made, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New(bounded.Redact(err.Error(), secrets...))
	}
	if kind != "" {
		made.Header.Set("Content-Type", kind)
	}
	answer, err := with.Do(made)
	if err != nil {
		return nil, bounded.Unanswered(ctx, err, secrets...)
	}
	return answer, nil
}

// secrets returns the texts that errors must not contain.
func (a account) secrets(token string) []string {
	var all []string
	for _, secret := range []string{token, a.info.AccessToken.Reveal(), a.info.Appsecret.Reveal(), a.token, a.key} {
		if secret != "" {
			all = append(all, secret, url.QueryEscape(secret))
		}
	}
	return all
}

// read parses an answer and returns its object, or an error for its errcode. The platform nearly always answers
// with status 200. If needsCode is true, an answer without an errcode is an error, too.
func (c *client) read(answer *http.Response, body []byte, secrets []string, needsCode bool) (document.Object, error) {
	status := answer.StatusCode
	var reply document.Object
	isRead := reply.UnmarshalJSON(body) == nil && !reply.IsZero()
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
	case isRead && code != 0:
		return document.Object{}, c.refused(code, bounded.Redact(document.Get(reply, "errmsg", ""), secrets...))
	case status >= http.StatusBadRequest:
		return document.Object{}, boterr.New(boterr.FailedPrecondition, "",
			"the answer, with status %d, is not from the platform: check Config.APIURL and the proxy", status)
	case !isRead || needsCode && document.Get(reply, "errcode", int64(-1)) != 0:
		return document.Object{}, inbound.ErrUnreadable
	default:
		return reply, nil
	}
}

// refusal is the error of a call that the platform did not carry out.
type refusal struct {
	code int64
	// message is the platform's text, without secrets. text is the whole error text.
	message, text string
	// cause is a *send.RetryAfterError, a *send.GoneError or nil.
	cause error
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.cause }

// maxMessageLength limits the part of the platform's text that errors contain, in code points.
const maxMessageLength = 200

// refused returns the error for an errcode.
func (c *client) refused(code int64, message string) error {
	if letters := []rune(message); len(letters) > maxMessageLength {
		message = string(letters[:maxMessageLength])
	}
	means, isKnown := meanings[code]
	if !isKnown {
		means = meaning{code: boterr.FailedPrecondition, sentence: sentenceOther}
	}
	told := "errcode " + strconv.FormatInt(code, 10)
	if message != "" {
		told += ": " + boterr.Visible(message)
	}
	if means.code == "" {
		return fmt.Errorf("%s (%s)", means.sentence, told) // The call may have been carried out, so this is not a refusal.
	}
	because := &refusal{code: code, message: boterr.Visible(message), text: means.sentence + " (" + told + ")"}
	switch {
	case means.isGone:
		because.cause = &send.GoneError{}
	case means.untilMidnight:
		because.cause = &send.RetryAfterError{After: untilMidnight(c.now())}
	case means.wait > 0:
		because.cause = &send.RetryAfterError{After: means.wait}
	}
	return &boterr.Error{Code: means.code, Field: means.field, Err: because}
}

// untilMidnight returns the time until the end of the day in Beijing.
func untilMidnight(now time.Time) time.Duration {
	at := now.In(time.FixedZone("Beijing", 8*60*60))
	midnight := time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, at.Location())
	return min(midnight.Sub(at), boterr.MaxRetryAfter)
}

// meaning explains an errcode.
type meaning struct {
	// code is "" if the platform failed. The call may have been carried out.
	code     boterr.Code
	sentence string
	// field is the faulty field of the response, if the errcode determines it.
	field string
	// wait is the time to wait. If untilMidnight is true, callers must wait until the platform's day ends.
	wait          time.Duration
	untilMidnight bool
	// isToken is true if the access token is refused. isGone is true if the member has left the account.
	isToken, isGone bool
}

const (
	codeUnknownMember = 40003
	codeMemberOfOther = 49003

	sentenceToken  = "the platform does not accept the account's access token; check appId and appsecret of the channel's info"
	sentenceBusy   = "the platform failed temporarily; try again later"
	sentenceOther  = "the platform refuses the request: look up the errcode in its list of return codes"
	sentenceMember = "the account has no member with that id"
)

var meanings = map[int64]meaning{
	-1:                {sentence: sentenceBusy},
	61450:             {sentence: sentenceBusy},
	40001:             {code: boterr.FailedPrecondition, sentence: sentenceToken, isToken: true},
	40014:             {code: boterr.FailedPrecondition, sentence: sentenceToken, isToken: true},
	42001:             {code: boterr.FailedPrecondition, sentence: sentenceToken, isToken: true},
	codeUnknownMember: {code: boterr.NotFound, sentence: sentenceMember},
	codeMemberOfOther: {code: boterr.NotFound, sentence: sentenceMember},
	40007: {
		code: boterr.InvalidArgument, field: "attachment_id",
		sentence: "the platform has no file with that id, or no longer has it: files are kept for three days",
	},
	40013: {code: boterr.FailedPrecondition, sentence: "the platform does not know the account: check appId of the channel's info"},
	40125: {code: boterr.FailedPrecondition, sentence: "the account's secret is wrong: check appsecret of the channel's info"},
	40164: {
		code:     boterr.FailedPrecondition,
		sentence: "the platform does not accept calls from this server: add the server's IP address to the account's allow list",
	},
	43004: {
		code: boterr.FailedPrecondition, isGone: true,
		sentence: "the member no longer follows the account",
	},
	43019: {
		code:     boterr.FailedPrecondition,
		sentence: "the account has blocked the member: remove the member from its blacklist",
	},
	44004: {code: boterr.InvalidArgument, field: "text", sentence: "the message is empty"},
	45002: {code: boterr.InvalidArgument, field: "text", sentence: "the message is too long for the platform: shorten it"},
	45008: {code: boterr.InvalidArgument, field: "articles", sentence: "a message can only have one article: send a message for each"},
	45009: {
		code: boterr.ResourceExhausted, untilMidnight: true,
		sentence: "the account has used all its calls of this day; try again after midnight in Beijing",
	},
	45011: {code: boterr.ResourceExhausted, wait: time.Minute, sentence: "the platform limits the account's calls per minute"},
	45015: {
		code:     boterr.FailedPrecondition,
		sentence: "the member's last message is more than 48 hours old: wait until the member writes again",
	},
	45047: {
		code: boterr.FailedPrecondition,
		sentence: "the member has already got the 5 messages allowed after a message, or the 3 allowed after a tap or a follow: " +
			"wait until the member writes, and put more into one message",
	},
	codeTooManyTags: {code: boterr.FailedPrecondition, sentence: "the member already has the maximum number of tags: remove one first"},
	codeInvalidTag:  {code: boterr.InvalidArgument, sentence: "the account has no tag with that id"},
	48001: {
		code:     boterr.FailedPrecondition,
		sentence: "the account may not use this part of the API: verify it, or use an account type that may",
	},
	50002: {code: boterr.FailedPrecondition, sentence: "the platform has restricted the account or the member"},
}
