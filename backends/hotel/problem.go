package hotel

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// problem is an answer of the platform that reports a refusal or a failure.
type problem struct {
	status int
	// word is the platform's error code, or "" if there is none.
	word string
	// message is the platform's explanation, or "" if there is none.
	message string
}

// maxProblemBytes limits the part of such an answer that is read.
const maxProblemBytes = 64 << 10

// plainWord matches valid error codes. Any other text is not copied into errors.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,60}$`)

// readProblem parses a refusal. The platform uses two forms: {"error": {"code", "message"}}, and {"errorCode",
// "message"}, in which message may be JSON text with "subCode" and "details". For any other body only the
// status is known.
func readProblem(status int, body []byte) problem {
	p := problem{status: status}
	told := answer{body: body}.object()
	if inner, isObject := document.Get(told, "error", any(nil)).(document.Object); isObject {
		p.word, p.message = document.Get(inner, "code", ""), document.Get(inner, "message", "")
	} else {
		p.message = document.Get(told, "message", "")
		if inner := (answer{body: []byte(p.message)}).object(); !inner.IsZero() {
			p.word, p.message = document.Get(inner, "subCode", ""), document.Get(inner, "details", "")
		}
		if number := document.Get(told, "errorCode", int64(0)); p.word == "" && number > 0 {
			p.word = "error" + strconv.FormatInt(number, 10)
		}
	}
	if !plainWord.MatchString(p.word) {
		p.word = ""
	}
	return p
}

// meaning explains a refusal.
type meaning struct {
	// code is the code of the error. It is "" if the platform failed: the request may have been carried out.
	code     boterr.Code
	sentence string
	// isGone is true if the recipient can never be reached again.
	isGone bool
	// pauses is true if the platform did nothing and accepts the same request after a wait.
	pauses bool
	// repeats is true if the error contains the platform's explanation. Errors about credentials must not
	// contain it.
	repeats bool
}

const (
	sentenceInstall = "the bot is not installed there: install the application for the user or in the team"
	sentenceRefused = "the platform does not accept the request: change the part that it names"
	sentenceToken   = "the platform does not accept the bot's token; check appId, appPassword and tenantId of the channel's info, " +
		"and that the application is registered as a bot"
)

// meanings explains refusals by the platform's error code. Refusals with other codes are explained by their
// status.
var meanings = map[string]meaning{
	"BotNotRegistered":          {code: boterr.FailedPrecondition, sentence: "the application is not registered as a bot: register it"},
	"ConversationBlockedByUser": {code: boterr.FailedPrecondition, sentence: "the user has blocked the bot", isGone: true},
	"MessageWritesBlocked": {
		code:     boterr.FailedPrecondition,
		sentence: "messages to the conversation are blocked: the user has blocked or removed the bot, or the conversation is closed",
	},
	"BotNotInConversationRoster":     {code: boterr.FailedPrecondition, sentence: sentenceInstall},
	"ForbiddenOperationException":    {code: boterr.FailedPrecondition, sentence: sentenceInstall},
	"BotDisabledByAdmin":             {code: boterr.FailedPrecondition, sentence: "an administrator disabled the bot: ask them to enable it"},
	"ConversationNotFound":           {code: boterr.NotFound, sentence: "the platform has no such conversation"},
	"ActivityNotFoundInConversation": {code: boterr.NotFound, sentence: "the conversation has no such message"},
	"MessageSizeTooBig":              {code: boterr.InvalidArgument, sentence: "the message is too long for the platform: send several"},
	"NameAlreadyExists":              {code: boterr.AlreadyExists, sentence: "the group already has a channel of that name; choose another"},
}

// takenName matches the explanation with which the platform refuses the name of an existing channel.
var takenName = regexp.MustCompile(`(?i)name already exist`)

// meaning explains the problem by its error code, or else by its status.
func (p problem) meaning() meaning {
	isRefusal := p.status >= http.StatusBadRequest && p.status < http.StatusInternalServerError
	if known, ok := meanings[p.word]; ok && isRefusal {
		return known
	}
	switch p.status {
	case http.StatusUnauthorized:
		return meaning{code: boterr.FailedPrecondition, sentence: sentenceToken}
	case http.StatusForbidden:
		return meaning{
			code:     boterr.FailedPrecondition,
			sentence: "the platform does not allow this: the bot is not installed there, is blocked, or lacks a permission",
		}
	case http.StatusNotFound:
		return meaning{code: boterr.NotFound, sentence: "the platform has nothing with that id, or the bot cannot see it"}
	case http.StatusConflict:
		return meaning{code: boterr.Conflict, sentence: "another request is changing the same thing: try again"}
	case http.StatusPreconditionFailed:
		return meaning{code: boterr.ResourceExhausted, sentence: "another request changed the conversation at the same time", pauses: true}
	case http.StatusRequestEntityTooLarge:
		return meanings["MessageSizeTooBig"]
	case http.StatusTooManyRequests:
		return meaning{code: boterr.ResourceExhausted, sentence: "the platform limits the rate of requests", pauses: true}
	}
	switch {
	case p.status == http.StatusBadRequest && takenName.MatchString(p.message):
		return meanings["NameAlreadyExists"]
	case isRefusal:
		return meaning{code: boterr.InvalidArgument, sentence: sentenceRefused, repeats: true}
	default:
		return meaning{}
	}
}

// refusal is the reason for a refusal. A boterr.Error with the code wraps it.
type refusal struct {
	// status and word are from the platform's answer.
	status int
	word   string
	text   string
	cause  error
}

func (r *refusal) Error() string { return r.text }

// Unwrap returns a *send.GoneError, a *send.RetryAfterError or nil.
func (r *refusal) Unwrap() error { return r.cause }

// maxMessageLength limits the part of the platform's explanation that an error contains, in code points.
const maxMessageLength = 200

// err returns the error for the problem. redact removes credentials from the platform's explanation.
func (p problem) err(header http.Header, now time.Time, redact func(string) string) error {
	found := p.meaning()
	if found.code == "" {
		return failed(p.status)
	}
	refused := &refusal{status: p.status, word: p.word, text: found.sentence + " (" + p.name() + ")"}
	if found.repeats && p.message != "" {
		told := []rune(redact(p.message))
		refused.text += ": " + string(told[:min(len(told), maxMessageLength)])
	}
	switch {
	case found.isGone:
		refused.cause = &send.GoneError{}
	case found.pauses:
		wait, asks := outbound.RetryAfter(header, now)
		if !asks || wait <= 0 {
			wait = shortPause()
		}
		refused.cause = &send.RetryAfterError{After: wait, OfRecipient: true}
		refused.text += ": " + refused.cause.Error()
	}
	return &boterr.Error{Code: found.code, Err: refused}
}

// name returns the platform's error code and the status.
func (p problem) name() string {
	name := "status " + strconv.Itoa(p.status)
	if p.word != "" {
		name = p.word + ", " + name
	}
	return name
}

// shortPause returns a random wait of one to two seconds, for answers that do not name one. Because it is
// random, processes do not all retry at the same time.
func shortPause() time.Duration {
	return time.Second + rand.N(time.Second) //nolint:gosec // It only spreads the load.
}

// failed returns the error for a failure of the platform. It has no code.
func failed(status int) error {
	return errors.New("the platform failed with status " + strconv.Itoa(status))
}

// isRefusedWith reports whether err is a refusal with this HTTP status.
func isRefusedWith(err error, status int) bool {
	found, ok := errors.AsType[*refusal](err)
	return ok && found.status == status
}
