package charlie

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// defaultRetryAfter is the wait if the tool limits the rate and does not give a time.
const defaultRetryAfter = time.Second

// maxReplyBytes is the largest answer that is read.
const maxReplyBytes = 4 << 20

// call calls a method of the API, and returns its reply. It only repeats a request that the tool refused because of the
// rate limit.
func (c *Connector) call(ctx context.Context, in *channel.Channel, method string, form url.Values) (document.Object, error) {
	token, err := tokenOf(in)
	if err != nil {
		return document.Object{}, err
	}
	for waits := 0; ; waits++ {
		reply, err := c.attempt(ctx, token, method, form)
		limited, isLimited := errors.AsType[*send.RetryAfterError](err)
		if !isLimited || waits == c.config.MaxWaits || limited.After > c.config.MaxWait {
			return reply, err
		}
		if err := timelimit.Wait(ctx, limited.After); err != nil {
			return document.Object{}, err
		}
	}
}

// attempt makes one request.
func (c *Connector) attempt(ctx context.Context, token, method string, form url.Values) (document.Object, error) {
	answer, err := calls.Do(ctx, c.config.HTTPClient, calls.Request{
		Method: http.MethodPost, URL: c.config.APIURL + method, Header: calls.Authorized("Bearer", token),
		Body: []byte(form.Encode()), BodyType: "application/x-www-form-urlencoded", Secrets: []string{token},
	}, maxReplyBytes)
	if err != nil {
		return document.Object{}, err
	}
	reply := answer.Object()
	isOK, isAnswer := document.Get(reply, "ok", any(nil)).(bool)
	switch {
	case answer.Status == http.StatusTooManyRequests:
		wait, asks := outbound.RetryAfter(answer.Header, c.config.Now())
		if !asks {
			wait = defaultRetryAfter
		}
		return document.Object{}, limiting(wait)
	case isOK && answer.Status == http.StatusOK:
		return reply, nil
	case isAnswer && !isOK:
		return document.Object{}, refusal(reply, token)
	default:
		return document.Object{}, calls.ErrUnreadable
	}
}

// limiting returns the error for a request that the tool refused because of the rate limit.
func limiting(wait time.Duration) error {
	return boterr.New(boterr.ResourceExhausted, "",
		"the workspace chat tool limits the rate of requests: %w", &send.RetryAfterError{After: wait})
}

const (
	sentenceToken = "the tool does not accept the channel's token; install the application again " +
		"in the workspace and store the new token in the channel's info"
	sentenceScope = "the application lacks a permission in the workspace: add it, and install the application again"
	sentenceShow  = "the tool cannot show the message: change the part that it names"
	sentenceOwn   = "the bot can only change its own messages, and only as long as the workspace allows it: send a new message"
	sentenceUser  = "the bot cannot write to the user: the account is closed, or belongs to another bot"
	sentenceAdmin = "the settings of the workspace do not allow this: ask its administrators"
)

// refusals are the refusals by the tool's error code. Other error codes are FailedPrecondition.
var refusals = map[string]calls.Meaning{
	"channel_not_found":  {Code: boterr.NotFound, Sentence: "the tool has no such conversation, or the bot cannot see it"},
	"message_not_found":  {Code: boterr.NotFound, Sentence: "the tool has no such message"},
	"thread_not_found":   {Code: boterr.NotFound, Sentence: "the tool has no such thread"},
	"user_not_found":     {Code: boterr.NotFound, Sentence: "the tool has no such user"},
	"users_not_found":    {Code: boterr.NotFound, Sentence: "the tool has no such user"},
	"is_archived":        {Code: boterr.FailedPrecondition, Sentence: "the conversation is archived", IsGone: true},
	"not_in_channel":     {Code: boterr.FailedPrecondition, Sentence: "the bot is not in the conversation: invite it"},
	"invalid_auth":       {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	"not_authed":         {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	"account_inactive":   {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	"token_revoked":      {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	"token_expired":      {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	"not_allowed_token":  {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	"missing_scope":      {Code: boterr.FailedPrecondition, Sentence: sentenceScope},
	"no_permission":      {Code: boterr.FailedPrecondition, Sentence: sentenceScope},
	"msg_too_long":       {Code: boterr.InvalidArgument, Sentence: "the message is too long for the tool: send several"},
	"no_text":            {Code: boterr.InvalidArgument, Sentence: "the message has neither text nor blocks nor attachments"},
	"invalid_blocks":     {Code: boterr.InvalidArgument, Sentence: sentenceShow},
	"invalid_arguments":  {Code: boterr.InvalidArgument, Sentence: sentenceShow},
	"invalid_attachment": {Code: boterr.InvalidArgument, Sentence: sentenceShow},
	"msg_blocks_too_long": {
		Code: boterr.InvalidArgument, Sentence: "the blocks of the message are too long for the tool: send several messages",
	},
	"invalid_blocks_format": {Code: boterr.InvalidArgument, Sentence: "the blocks are not a list of blocks in the tool's format"},
	"too_many_attachments":  {Code: boterr.InvalidArgument, Sentence: "the message has more attachments than the tool shows: send several"},
	"cant_update_message":   {Code: boterr.FailedPrecondition, Sentence: sentenceOwn},
	"cant_delete_message":   {Code: boterr.FailedPrecondition, Sentence: sentenceOwn},
	"edit_window_closed":    {Code: boterr.FailedPrecondition, Sentence: sentenceOwn},
	"cannot_dm_bot":         {Code: boterr.FailedPrecondition, Sentence: sentenceUser, IsGone: true},
	"user_disabled":         {Code: boterr.FailedPrecondition, Sentence: sentenceUser, IsGone: true},
	"restricted_action":     {Code: boterr.FailedPrecondition, Sentence: sentenceAdmin},
	"accesslimited":         {Code: boterr.FailedPrecondition, Sentence: sentenceAdmin},
	"cant_archive_general":  {Code: boterr.FailedPrecondition, Sentence: "the conversation of the whole workspace cannot be archived"},
	"messages_tab_disabled": {
		Code: boterr.FailedPrecondition, Sentence: "the application takes no direct messages: switch on its messages tab",
	},
	"method_not_supported_for_channel_type": {
		Code: boterr.FailedPrecondition, Sentence: "the tool cannot do this with a direct conversation: give the id of a group's conversation",
	},
	"already_archived": {Code: boterr.FailedPrecondition, Sentence: "the conversation is archived"},
	"name_taken":       {Code: boterr.AlreadyExists, Sentence: "the workspace already has a conversation of that name: choose another name"},
}

// transient matches the tool's error codes for temporary failures.
var transient = regexp.MustCompile(`^(fatal_error|internal_error|service_unavailable|request_timeout)$`)

// plainWord matches valid error codes. Any other text is not copied into errors.
var plainWord = regexp.MustCompile(`^[a-z][a-z0-9_]{0,79}$`)

// refusal returns the error for a reply in which ok is false.
func refusal(reply document.Object, token string) error {
	word := document.Get(reply, "error", "")
	switch {
	case word == "ratelimited" || word == "rate_limited":
		return limiting(defaultRetryAfter)
	case transient.MatchString(word):
		return errors.New("the workspace chat tool could not answer: " + word)
	case !plainWord.MatchString(word):
		word = "unknown_error"
	}
	meaning, isKnown := refusals[word]
	if !isKnown {
		meaning = calls.Meaning{
			Code: boterr.FailedPrecondition, Sentence: "the tool refuses the request: look up the error in its documentation",
		}
		if strings.HasPrefix(word, "token_") {
			meaning.Sentence = sentenceToken
		}
	}
	meaning.RepeatsMessage = meaning.Code == boterr.InvalidArgument
	return meaning.Error(word, calls.RefusalError{Code: word, Message: bounded.Redact(detailsOf(reply), token)})
}

// maxDetails and maxDetailLength limit the details that an error contains.
const (
	maxDetails      = 5
	maxDetailLength = 200
)

// detailsOf returns the tool's messages about parts of the request.
func detailsOf(reply document.Object) string {
	var details []string
	for _, message := range document.Get(reply, "response_metadata.messages", document.Array{}).All() {
		if text, isText := message.(string); isText && len(details) < maxDetails && len(text) <= maxDetailLength {
			details = append(details, text)
		}
	}
	return strings.Join(details, "; ")
}

func isRefusedWith(err error, words ...string) bool {
	return slices.Contains(words, calls.RefusalIn(err).Code)
}

// unverified is a request whose signature has not been checked. Only the fields that lead to the secret have
// been parsed.
type unverified struct {
	header    http.Header
	signature []byte
	// body is the signed body. content is the JSON in it, which may be a form's field.
	body    []byte
	content []byte
	from    Workspace
	// challenge is the text to send back if the tool checks the address. In any other request it is empty.
	challenge string
}

// readUnverified reads the workspace of a request. The body is JSON, or a form with JSON in its payload.
// readUnverified returns false for a request that the tool does not send.
func readUnverified(header http.Header, body []byte) (unverified, bool) {
	opened := unverified{header: header, body: body, content: body}
	if media, _, _ := mime.ParseMediaType(header.Get("Content-Type")); media == "application/x-www-form-urlencoded" {
		var err error
		if opened.content, err = payloadIn(string(body)); err != nil {
			return opened, false
		}
	}
	named, ok := inbound.Texts(opened.content, "type", "challenge",
		"team_id", "team.id", "user.team_id", "enterprise_id", "enterprise.id", "team.enterprise_id", "api_app_id")
	if !ok || named[0] == "" {
		return opened, false
	}
	opened.from = Workspace{
		TeamID: cmp.Or(named[2], named[3], named[4]), EnterpriseID: cmp.Or(named[5], named[6], named[7]), AppID: named[8],
	}
	if named[0] == "url_verification" {
		opened.challenge = named[1]
		return opened, opened.challenge != ""
	}
	return opened, true
}

func payloadIn(form string) ([]byte, error) {
	for field := range strings.SplitSeq(form, "&") {
		if value, ok := strings.CutPrefix(field, "payload="); ok {
			text, err := url.QueryUnescape(value)
			return []byte(text), err
		}
	}
	return nil, boterr.Invalid("payload", "is missing")
}

// read parses a request after its signature was checked.
func (l unverified) read(in *channel.Channel) (report, error) {
	var object document.Object
	if err := object.UnmarshalJSON(l.content); err != nil {
		return report{}, err
	}
	read := Workspace{
		TeamID:       firstText(object, "team_id", "team.id", "user.team_id"),
		EnterpriseID: firstText(object, "enterprise_id", "enterprise.id", "team.enterprise_id"),
		AppID:        firstText(object, "api_app_id"),
	}
	if read != l.from {
		return report{}, boterr.Invalid("team_id", "is given twice")
	}
	return report{body: object, in: in}, nil
}
