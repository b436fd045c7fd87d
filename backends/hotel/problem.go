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
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/outbound"
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
func readProblem(refused calls.Answer) problem {
	p := problem{status: refused.Status}
	told := refused.Object()
	if inner, isObject := document.Get(told, "error", any(nil)).(document.Object); isObject {
		p.word, p.message = document.Get(inner, "code", ""), document.Get(inner, "message", "")
	} else {
		p.message = document.Get(told, "message", "")
		if inner := (calls.Answer{Body: []byte(p.message)}).Object(); !inner.IsZero() {
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

const (
	sentenceInstall = "the bot is not installed there: install the application for the user or in the team"
	sentenceRefused = "the platform does not accept the request: change the part that it names"
	sentenceToken   = "the platform does not accept the bot's token; check appId, appPassword and tenantId of the channel's info, " +
		"and that the application is registered as a bot"
)

// meanings explains refusals by the platform's error code. Refusals with other codes are explained by their
// status.
var meanings = map[string]calls.Meaning{
	"BotNotRegistered":          {Code: boterr.FailedPrecondition, Sentence: "the application is not registered as a bot: register it"},
	"ConversationBlockedByUser": {Code: boterr.FailedPrecondition, Sentence: "the user has blocked the bot", IsGone: true},
	"MessageWritesBlocked": {
		Code:     boterr.FailedPrecondition,
		Sentence: "messages to the conversation are blocked: the user has blocked or removed the bot, or the conversation is closed",
	},
	"BotNotInConversationRoster":     {Code: boterr.FailedPrecondition, Sentence: sentenceInstall},
	"ForbiddenOperationException":    {Code: boterr.FailedPrecondition, Sentence: sentenceInstall},
	"BotDisabledByAdmin":             {Code: boterr.FailedPrecondition, Sentence: "an administrator disabled the bot: ask them to enable it"},
	"ConversationNotFound":           {Code: boterr.NotFound, Sentence: "the platform has no such conversation"},
	"ActivityNotFoundInConversation": {Code: boterr.NotFound, Sentence: "the conversation has no such message"},
	"MessageSizeTooBig":              {Code: boterr.InvalidArgument, Sentence: "the message is too long for the platform: send several"},
	"NameAlreadyExists":              {Code: boterr.AlreadyExists, Sentence: "the group already has a channel of that name; choose another"},
}

// takenName matches the explanation with which the platform refuses the name of an existing channel.
var takenName = regexp.MustCompile(`(?i)name already exist`)

// meaning explains the problem by its error code, or else by its status.
func (p problem) meaning() calls.Meaning {
	isRefusal := p.status >= http.StatusBadRequest && p.status < http.StatusInternalServerError
	if known, ok := meanings[p.word]; ok && isRefusal {
		return known
	}
	switch p.status {
	case http.StatusUnauthorized:
		return calls.Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceToken}
	case http.StatusForbidden:
		return calls.Meaning{
			Code:     boterr.FailedPrecondition,
			Sentence: "the platform does not allow this: the bot is not installed there, is blocked, or lacks a permission",
		}
	case http.StatusNotFound:
		return calls.Meaning{Code: boterr.NotFound, Sentence: "the platform has nothing with that id, or the bot cannot see it"}
	case http.StatusConflict:
		return calls.Meaning{Code: boterr.Conflict, Sentence: "another request is changing the same thing: try again"}
	case http.StatusPreconditionFailed:
		return pausing("another request changed the conversation at the same time")
	case http.StatusRequestEntityTooLarge:
		return meanings["MessageSizeTooBig"]
	case http.StatusTooManyRequests:
		return pausing("the platform limits the rate of requests")
	}
	switch {
	case p.status == http.StatusBadRequest && takenName.MatchString(p.message):
		return meanings["NameAlreadyExists"]
	case isRefusal:
		return calls.Meaning{Code: boterr.InvalidArgument, Sentence: sentenceRefused, RepeatsMessage: true}
	default:
		return calls.Meaning{}
	}
}

// pausing is the meaning of an answer after which the platform accepts the same request later. It did nothing.
func pausing(sentence string) calls.Meaning {
	return calls.Meaning{Code: boterr.ResourceExhausted, Sentence: sentence, Wait: shortPause(), OfRecipient: true}
}

// err returns the error for the problem. redact removes credentials from the platform's explanation.
func (p problem) err(header http.Header, now time.Time, redact func(string) string) error {
	found, name := p.meaning(), p.name()
	if found.Code == "" {
		return failed(p.status)
	}
	if wait, _ := outbound.RetryAfter(header, now); found.Wait > 0 && wait > 0 {
		found.Wait = wait
	}
	return found.Error(name, calls.RefusalError{Status: p.status, Message: calls.Shortened(redact(p.message))})
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
