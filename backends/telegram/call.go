package telegram

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Limits of answers, in bytes.
const (
	maxAnswerBytes  = 1 << 20
	maxUpdatesBytes = 16 << 20
)

// methodUpdates is the only method with longer and slower answers.
const methodUpdates = "getUpdates"

// call calls a method with JSON parameters, and returns its result.
func (c *Connector) call(ctx context.Context, in *channel.Channel, method string, params document.Object) (any, error) {
	return c.post(ctx, in, method, calls.Request{JSON: params})
}

// post calls a method once, and returns its result. r has the body of the request.
func (c *Connector) post(ctx context.Context, in *channel.Channel, method string, r calls.Request) (any, error) {
	of, err := credentialsOf(in)
	if err != nil {
		return nil, err
	}
	client, most := c.api, int64(maxAnswerBytes)
	if method == methodUpdates {
		client, most = c.polls, maxUpdatesBytes
	}
	r.Method, r.URL, r.Secrets = http.MethodPost, c.config.APIURL+"/bot"+of.token+"/"+method, of.secrets()
	answer, err := calls.Do(ctx, client, r, most)
	switch {
	case err == nil:
		return of.result(answer)
	case ctx.Err() != nil, boterr.HasCode(err):
		return nil, err
	default:
		return nil, fmt.Errorf("%s: %w", method, err)
	}
}

// result returns the result in an answer, or the error for a refusal. A malformed answer is an error without a
// code, unless the status shows that the host's configuration is wrong.
func (c credentials) result(answer calls.Answer) (any, error) {
	body, status := answer.Object(), answer.Status
	isOK, isAnswer := document.Get(body, "ok", any(nil)).(bool)
	result, _ := body.Field("result")
	switch {
	case isOK && status == http.StatusOK && result != nil:
		return result, nil
	case isAnswer && !isOK, status == http.StatusTooManyRequests:
		return nil, c.refused(int(document.Get(body, "error_code", int64(status))), body, answer.Header)
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the answer, with status %d, is not from Telegram: check Config.APIURL and the proxy", status)
	default:
		return nil, fmt.Errorf("telegram's answer with status %d is not valid", status)
	}
}

// refused returns the error for an answer in which ok is false.
func (c credentials) refused(status int, body document.Object, header http.Header) error {
	if status >= http.StatusInternalServerError {
		return fmt.Errorf("telegram failed with status %d", status)
	}
	if status == http.StatusTooManyRequests {
		wait, _ := outbound.RetryAfter(header, timelimit.Now()) // Dates in headers follow the real clock.
		if seconds := document.Get(body, "parameters.retry_after", int64(0)); seconds > 0 {
			wait = time.Duration(min(seconds, int64(boterr.MaxRetryAfter/time.Second))) * time.Second
		}
		return boterr.New(boterr.ResourceExhausted, "", "Telegram is limiting the rate of requests: %w",
			&send.RetryAfterError{After: max(wait, time.Second)})
	}
	description := boterr.Visible(fmt.Sprintf("%.200s", c.redact(document.Get(body, "description", ""))))
	for _, known := range refusals {
		if known.status == status && containsAny(description, known.words) {
			return known.Error(description, calls.RefusalError{
				Message: description, Details: document.Get(body, "parameters", document.Object{}),
			})
		}
	}
	return boterr.New(boterr.FailedPrecondition, "", "Telegram refused the request with status %d (%s)", status, description)
}

const (
	sentenceToken = "Telegram does not accept the channel's token, which was revoked or mistyped: " +
		"get the current one from BotFather and set it as token in the channel's info"
	sentenceRights  = "the bot may not do this: make it an administrator with this permission, or send a new message"
	sentenceFile    = "Telegram cannot use the file: give a public address of a supported type and size, or an id of this bot"
	sentenceWebhook = "the bot has a webhook and cannot be polled: call SetWebhook with an empty address first"
)

// refusals explains refusals by their status and by words in Telegram's description. Telegram does not document
// these descriptions. The first row that matches applies.
var refusals = []struct {
	status int
	words  string
	calls.Meaning
}{
	{
		400, "chat not found|user not found|message to edit not found|message to delete not found|message_id_invalid|" +
			"message identifier is not specified|message thread not found|topic_id_invalid|topic_deleted",
		calls.Meaning{Code: boterr.NotFound, Sentence: "Telegram does not know the chat, user, topic or message"},
	},
	{
		400, "not enough rights|administrator rights|admin_required|have no rights|write_forbidden|not a forum|can't be deleted|" +
			"can't be edited|topic_closed",
		calls.Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceRights},
	},
	{
		400, "button_",
		calls.Meaning{Code: boterr.InvalidArgument, Field: partButtons, Sentence: "Telegram cannot show a button: change the one that it names"},
	},
	{
		400, "http url|web page content|web document|wrong file|wrong remote file|file_reference|media_",
		calls.Meaning{Code: boterr.InvalidArgument, Field: partFile, Sentence: sentenceFile},
	},
	{
		400, "too long|text is empty",
		calls.Meaning{Code: boterr.InvalidArgument, Field: partText, Sentence: "Telegram cannot show the text: it is empty or too long"},
	},
	{400, "", calls.Meaning{Code: boterr.InvalidArgument, Sentence: "Telegram does not accept the request: change the part that it names"}},
	{401, "", calls.Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceToken}},
	{
		403, "blocked by the user|is deactivated|was kicked|not a member|was deleted",
		calls.Meaning{Code: boterr.FailedPrecondition, Sentence: "the bot was blocked or removed, or the account was closed", IsGone: true},
	},
	{
		403, "",
		calls.Meaning{Code: boterr.FailedPrecondition, Sentence: "the bot may not write to this chat: the user must write to it first"},
	},
	{404, "", calls.Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceToken}},
	{409, "webhook", calls.Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceWebhook}},
	{
		409, "",
		calls.Meaning{Code: boterr.Conflict, Sentence: "another process polls this bot: stop it, or set Config.Store so that they take turns"},
	},
	{413, "", calls.Meaning{Code: boterr.InvalidArgument, Sentence: "the request is too long for Telegram"}},
}

// containsAny reports whether a text contains one of the words, ignoring case. words are in lower case,
// separated by |. Every text contains "".
func containsAny(text, words string) bool {
	text = strings.ToLower(text)
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// saysAny reports whether err is a refusal whose description contains one of the words.
func saysAny(err error, words string) bool {
	return containsAny(calls.RefusalIn(err).Message, words)
}

// millisecondsOf returns the date of a message. Telegram sends seconds.
func millisecondsOf(of document.Lookuper) document.Timestamp {
	const latest = 1 << 40 // Larger values would overflow.
	return document.Timestamp(1000 * max(0, min(document.Get(of, "date", int64(0)), latest)))
}

// idText returns the id at a path as text, or "" if there is none.
func idText(of document.Lookuper, path string) string {
	if id := document.Get(of, path, int64(0)); id != 0 {
		return strconv.FormatInt(id, 10)
	}
	return ""
}
