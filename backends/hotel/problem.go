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

// problem is the platform's refusal of a request, or its failure.
type problem struct {
	status int
	// word is the platform's word for it, or "" if there is none.
	word string
	// message is the platform's sentence, or "" if there is none.
	message string
}

// maxProblemBytes is the number of bytes of a refusal that are read.
const maxProblemBytes = 64 << 10

// plainWord matches the platform's words. Other texts are not repeated in errors.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,60}$`)

// readProblem reads a refusal, which has one of three forms: {"error": {"code", "message"}}; {"errorCode",
// "message"}, whose message may be an object as text, with "subCode" and "details"; or anything else, such as
// nothing.
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

// meaning is the meaning of a refusal for a caller.
type meaning struct {
	// code is the code of the error, or "" for a failure of the platform: the request may have been carried
	// out.
	code boterr.Code
	// sentence states the problem and the remedy.
	sentence string
	// isGone is true if the recipient is gone for good.
	isGone bool
	// pauses is true if the platform certainly did nothing, and will accept the request later.
	pauses bool
	// repeats is true if the error includes the platform's own sentence. Errors about credentials must not.
	repeats bool
}

const (
	sentenceInstall = "the bot is not installed there: install the application for the user or in the team"
	sentenceRefused = "the platform does not take the request as it is: change what it complains about"
	sentenceToken   = "the platform does not accept the bot's token: check appId, appPassword and tenantId of the channel's info, " +
		"and that the application is registered as a bot"
)

// meanings are the meanings of the platform's words. All others have the meaning of their status.
var meanings = map[string]meaning{
	"BotNotRegistered":          {code: boterr.FailedPrecondition, sentence: "the application is not registered as a bot: register it"},
	"ConversationBlockedByUser": {code: boterr.FailedPrecondition, sentence: "the user has blocked the bot", isGone: true},
	"MessageWritesBlocked": {
		code:     boterr.FailedPrecondition,
		sentence: "messages to the conversation are blocked: the user has blocked or removed the bot, or the conversation is closed",
	},
	"BotNotInConversationRoster":     {code: boterr.FailedPrecondition, sentence: sentenceInstall},
	"ForbiddenOperationException":    {code: boterr.FailedPrecondition, sentence: sentenceInstall},
	"BotDisabledByAdmin":             {code: boterr.FailedPrecondition, sentence: "an administrator has disabled the bot: ask them"},
	"ConversationNotFound":           {code: boterr.NotFound, sentence: "the platform has no such conversation"},
	"ActivityNotFoundInConversation": {code: boterr.NotFound, sentence: "the conversation has no such message"},
	"MessageSizeTooBig":              {code: boterr.InvalidArgument, sentence: "the message is too long for the platform: send several"},
	"NameAlreadyExists":              {code: boterr.AlreadyExists, sentence: "the group has a channel of that name: choose another name"},
}

// takenName matches the sentence with which the platform refuses the name of a channel that exists.
var takenName = regexp.MustCompile(`(?i)name already exist`)

// meaning looks up the problem by its word, or else by its status.
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
			sentence: "the platform does not allow it: the bot is not installed there, is blocked, or lacks a permission",
		}
	case http.StatusNotFound:
		return meaning{code: boterr.NotFound, sentence: "the platform has nothing with that id that the bot can see"}
	case http.StatusConflict:
		return meaning{code: boterr.Conflict, sentence: "the platform is changing the same thing: try again"}
	case http.StatusPreconditionFailed:
		return meaning{code: boterr.ResourceExhausted, sentence: "something else happened in the conversation at the same time", pauses: true}
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

// refusal is the platform's reason for a refusal, wrapped in the error with the code.
type refusal struct {
	// status and word are the platform's.
	status int
	word   string
	text   string
	cause  error
}

func (r *refusal) Error() string { return r.text }

// Unwrap returns a *send.GoneError or a *send.RetryAfterError, or nil.
func (r *refusal) Unwrap() error { return r.cause }

// maxMessageLength is the maximum length, in code points, of the part of the platform's message that an error
// repeats.
const maxMessageLength = 200

// err returns the error for the problem. redact removes credentials from the platform's message.
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

// name returns the platform's word, and its status.
func (p problem) name() string {
	name := "status " + strconv.Itoa(p.status)
	if p.word != "" {
		name = p.word + ", " + name
	}
	return name
}

// shortPause returns a wait of one to two seconds, for a platform that does not name one. Waits of several
// processes differ.
func shortPause() time.Duration {
	return time.Second + rand.N(time.Second) //nolint:gosec // It need not be secret.
}

// failed returns the error for a failure of the platform, which has no code.
func failed(status int) error {
	return errors.New("the platform failed with status " + strconv.Itoa(status))
}

// isRefusedWith reports whether the platform refused a request with a status.
func isRefusedWith(err error, status int) bool {
	found, ok := errors.AsType[*refusal](err)
	return ok && found.status == status
}
