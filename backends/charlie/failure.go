package charlie

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// refused is what a word of the tool for a refusal means here.
type refused struct {
	code     boterr.Code
	sentence string
}

const (
	sentenceToken = "the tool does not accept the channel's token: install the application anew " +
		"in the workspace and store the new token in the channel's info"
	sentenceScope = "the application lacks a permission in the workspace: add it, and install the application anew"
	sentenceShow  = "the tool cannot show the message as it is: change what it complains about"
	sentenceOwn   = "the bot can change its own messages alone, for as long as the workspace allows it: send a new one"
	sentenceUser  = "the user cannot be written to: the account is closed, or another bot's"
	sentenceAdmin = "the settings of the workspace do not allow it: ask its administrators"
)

// refusals are the tool's words for refusals. Any other is FailedPrecondition.
var refusals = map[string]refused{
	"channel_not_found":  {boterr.NotFound, "the tool has no such conversation that the bot can see"},
	"message_not_found":  {boterr.NotFound, "the tool has no such message"},
	"thread_not_found":   {boterr.NotFound, "the tool has no such thread"},
	"user_not_found":     {boterr.NotFound, "the tool has no such user"},
	"users_not_found":    {boterr.NotFound, "the tool has no such user"},
	"is_archived":        {boterr.FailedPrecondition, "the conversation is archived"},
	"not_in_channel":     {boterr.FailedPrecondition, "the bot is not in the conversation: invite it"},
	"invalid_auth":       {boterr.FailedPrecondition, sentenceToken},
	"not_authed":         {boterr.FailedPrecondition, sentenceToken},
	"account_inactive":   {boterr.FailedPrecondition, sentenceToken},
	"token_revoked":      {boterr.FailedPrecondition, sentenceToken},
	"token_expired":      {boterr.FailedPrecondition, sentenceToken},
	"not_allowed_token":  {boterr.FailedPrecondition, sentenceToken},
	"missing_scope":      {boterr.FailedPrecondition, sentenceScope},
	"no_permission":      {boterr.FailedPrecondition, sentenceScope},
	"msg_too_long":       {boterr.InvalidArgument, "the message is too long for the tool: send several"},
	"no_text":            {boterr.InvalidArgument, "the message has neither text nor blocks nor attachments"},
	"invalid_blocks":     {boterr.InvalidArgument, sentenceShow},
	"invalid_arguments":  {boterr.InvalidArgument, sentenceShow},
	"invalid_attachment": {boterr.InvalidArgument, sentenceShow},
	"msg_blocks_too_long": {
		boterr.InvalidArgument, "the blocks of the message are too long for the tool: send several messages",
	},
	"invalid_blocks_format": {boterr.InvalidArgument, "the blocks are no list of blocks in the tool's words"},
	"too_many_attachments":  {boterr.InvalidArgument, "the message has more attachments than the tool shows: send several"},
	"cant_update_message":   {boterr.FailedPrecondition, sentenceOwn},
	"cant_delete_message":   {boterr.FailedPrecondition, sentenceOwn},
	"edit_window_closed":    {boterr.FailedPrecondition, sentenceOwn},
	"cannot_dm_bot":         {boterr.FailedPrecondition, sentenceUser},
	"user_disabled":         {boterr.FailedPrecondition, sentenceUser},
	"restricted_action":     {boterr.FailedPrecondition, sentenceAdmin},
	"cant_archive_general":  {boterr.FailedPrecondition, "the conversation of all people of the workspace cannot be archived"},
	"messages_tab_disabled": {boterr.FailedPrecondition, "the application takes no direct messages: switch its messages tab on"},
	"method_not_supported_for_channel_type": {
		boterr.FailedPrecondition, "the tool does not do it to a direct conversation: give one of a group",
	},
	"already_archived": {boterr.FailedPrecondition, "the conversation is archived"},
	"name_taken":       {boterr.AlreadyExists, "the workspace has a conversation of that name"},
}

// transient are the words by which the tool says that it could not tell.
var transient = regexp.MustCompile(`^(fatal_error|internal_error|service_unavailable|request_timeout|accesslimited)$`)

// plainWord matches the tool's words for errors. Anything else is not repeated in errors.
var plainWord = regexp.MustCompile(`^[a-z][a-z0-9_]{0,79}$`)

// rejection is what stands behind the code of a refusal.
type rejection struct {
	// word is the tool's own.
	word string
	text string
	// details are what the tool says of the parts of a message.
	details []string
}

// Error implements error.
func (r *rejection) Error() string { return r.text }

// goneWords are the tool's words for recipients that cannot be written to any more. NotFound says it
// of the others.
var goneWords = []string{"is_archived", "user_disabled", "cannot_dm_bot"}

// Unwrap returns a *send.GoneError if the recipient is gone for good, else nil.
func (r *rejection) Unwrap() error {
	if slices.Contains(goneWords, r.word) {
		return &send.GoneError{}
	}
	return nil
}

// refusal returns the error for a reply that is not ok.
func refusal(reply document.Object) error {
	word := document.Get(reply, "error", "")
	switch {
	case word == "ratelimited" || word == "rate_limited":
		return &slack.RateLimitedError{RetryAfter: defaultRetryAfter}
	case transient.MatchString(word):
		return errors.New("the workspace chat tool could not answer: " + word)
	case !plainWord.MatchString(word):
		word = "unknown_error"
	}
	meaning, isKnown := refusals[word]
	if !isKnown {
		meaning = refused{boterr.FailedPrecondition, "the tool refuses it: its documentation says of this word what to change"}
		if strings.HasPrefix(word, "token_") {
			meaning.sentence = sentenceToken
		}
	}
	details := detailsOf(reply)
	text := meaning.sentence + " (" + word + ")"
	if meaning.code == boterr.InvalidArgument && len(details) > 0 {
		text += ": " + strings.Join(details, "; ")
	}
	return &boterr.Error{Code: meaning.code, Err: &rejection{word, text, details}}
}

// maxDetails and maxDetailLength limit what an error repeats of what the tool says.
const (
	maxDetails      = 5
	maxDetailLength = 200
)

// detailsOf returns what the tool says of the parts of a message that it refused.
func detailsOf(reply document.Object) []string {
	var details []string
	for _, message := range document.Get(reply, "response_metadata.messages", document.Array{}).All() {
		if text, isText := message.(string); isText && len(details) < maxDetails && len(text) <= maxDetailLength {
			details = append(details, text)
		}
	}
	return details
}

// isRefusedWith reports whether the tool refused with one of the words.
func isRefusedWith(err error, words ...string) bool {
	found, ok := errors.AsType[*rejection](err)
	return ok && slices.Contains(words, found.word)
}

// withoutSecret returns an error whose text does not hold a token.
func withoutSecret(err error, token string) error {
	if !strings.Contains(err.Error(), token) {
		return err
	}
	text := strings.ReplaceAll(err.Error(), token, "[redacted]")
	if coded, ok := boterr.AsError(err); ok {
		return boterr.New(coded.Code, coded.Field, "%s", text)
	}
	return errors.New(text)
}
