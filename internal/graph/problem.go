package graph

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
)

// problem is an error response of the API.
type problem struct {
	// Status is the HTTP status. It is nearly always 400, so the codes are more important.
	Status int
	// Code and Subcode are the API's error codes, or 0.
	Code, Subcode int64
	// Message is the API's error message, or "".
	Message string
	// Trace is the API's id of the call, for support requests, or "".
	Trace string
	// Wait is the time to wait according to the headers, or 0.
	Wait time.Duration
}

// plainTrace matches ids of calls. Errors do not repeat any other text as an id.
var plainTrace = regexp.MustCompile(`^[\w-]{1,60}$`)

// readProblem parses a response of the API. It returns nil if the response is not an error.
func readProblem(status int, header http.Header, body []byte) *problem {
	var reply document.Object
	isRead := reply.UnmarshalJSON(body) == nil
	told, isTold := document.Get[any](reply, "error", nil).(document.Object)
	if status >= 200 && status <= 299 && (!isRead || !isTold) {
		return nil
	}
	return problemIn(told, status, header)
}

func problemIn(told document.Object, status int, header http.Header) *problem {
	p := &problem{
		Status: status, Code: document.Get(told, "code", int64(0)), Subcode: document.Get(told, "error_subcode", int64(0)),
		Message: document.Get(told, "error_data.details", document.Get(told, "message", "")),
		Trace:   document.Get(told, "fbtrace_id", ""), Wait: waitIn(header),
	}
	if !plainTrace.MatchString(p.Trace) {
		p.Trace = ""
	}
	return p
}

// usageHeader has the usage of a business's rate limits: by account, a list of usages with the minutes until
// calls are allowed again.
const usageHeader = "X-Business-Use-Case-Usage"

// maxUsageLength is more than the length of any such header.
const maxUsageLength = 64 << 10

// waitIn returns the time to wait given by headers, at most boterr.MaxRetryAfter, or 0 if they give none.
func waitIn(header http.Header) time.Duration {
	wait, _ := outbound.RetryAfter(header, timelimit.Now()) // Dates in headers follow the real clock.
	text := header.Get(usageHeader)
	var usage document.Object
	if text == "" || len(text) > maxUsageLength || usage.UnmarshalJSON([]byte(text)) != nil {
		return wait
	}
	for _, uses := range usage.All() {
		list, _ := uses.(document.Array)
		for _, use := range list.All() {
			one, _ := use.(document.Object)
			value, _ := one.Field("estimated_time_to_regain_access")
			if minutes, ok := document.FloatNumber(value); ok && minutes > 0 {
				wait = max(wait, time.Duration(min(minutes, boterr.MaxRetryAfter.Minutes())*float64(time.Minute)))
			}
		}
	}
	return wait
}

// Meaning is the meaning of an error code for a caller.
type Meaning = calls.Meaning

// Key is an error code with its subcode. A Subcode of 0 means any.
type Key struct{ Code, Subcode int64 }

// Meanings maps codes to their meanings. A code with its subcode takes precedence over the code alone, and the
// platform's meanings over the API's.
type Meanings map[Key]Meaning

const (
	remedyToken   = "; make a new one and store it in the channel's info" //nolint:gosec // It is a sentence.
	sentenceToken = "the platform does not accept the channel's token" + remedyToken

	sentencePermission = "the application or the token lacks a permission: grant it, make a new token and store it in the channel's info"
	sentenceRate       = "the platform limits the rate of requests"
	sentenceParameter  = "the platform does not take the request as it is: change what it complains about"
	sentenceOther      = "the platform refuses the request; look up the code in the documentation of its API"
)

// common has the meanings of codes that the whole API uses.
var common = Meanings{
	{190, 0}:   {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	{190, 458}: {Code: boterr.FailedPrecondition, Sentence: "the owner of the channel's token removed the application" + remedyToken},
	{190, 460}: {Code: boterr.FailedPrecondition, Sentence: "the channel's token ended with a change of password" + remedyToken},
	{190, 463}: {Code: boterr.FailedPrecondition, Sentence: "the channel's token has expired" + remedyToken},
	{190, 467}: {Code: boterr.FailedPrecondition, Sentence: "the channel's token was revoked" + remedyToken},
	{102, 0}:   {Code: boterr.FailedPrecondition, Sentence: sentenceToken},
	{10, 0}:    {Code: boterr.FailedPrecondition, Sentence: sentencePermission},
	{368, 0}: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the platform has temporarily blocked the account for breaking its rules; see the account's quality page",
	},
	{4, 0}:   {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Minute},
	{17, 0}:  {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Minute},
	{32, 0}:  {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Minute},
	{613, 0}: {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Minute},
	{100, 0}: {Code: boterr.InvalidArgument, Sentence: sentenceParameter, RepeatsMessage: true},
	unknownID: {
		Code:     boterr.FailedPrecondition,
		Sentence: "an id in the request does not exist, or the token may not use it; check the ids in the channel's info",
	},
	{1, 0}: {Sentence: "the platform failed"},
	{2, 0}: {Sentence: "the platform failed for now"},
}

// of returns the meaning of a problem by its code and subcode, else by its code, else by its status.
func (m Meanings) of(p *problem) Meaning {
	for _, key := range []Key{{p.Code, p.Subcode}, {p.Code, 0}} {
		for _, known := range []Meanings{m, common} {
			if meaning, ok := known[key]; ok && p.Code+p.Subcode != 0 {
				return meaning
			}
		}
	}
	switch {
	case p.Code >= 200 && p.Code <= 299:
		return Meaning{Code: boterr.FailedPrecondition, Sentence: sentencePermission}
	case p.Status >= http.StatusInternalServerError, p.Status < http.StatusBadRequest && p.Code == 0:
		return Meaning{Sentence: "the platform failed"}
	case p.Status == http.StatusTooManyRequests:
		return common[Key{Code: 4}]
	case p.Status == http.StatusUnauthorized:
		return common[Key{Code: 190}]
	case p.Status == http.StatusNotFound && p.Code == 0:
		return Meaning{Code: boterr.NotFound, Sentence: "the platform has nothing with that id"}
	default:
		return Meaning{Code: boterr.FailedPrecondition, Sentence: sentenceOther, RepeatsMessage: true}
	}
}

// ErrorOf returns the error for a problem that the API reports later than its answer to the call, such as a
// failed delivery.
func (m Meanings) ErrorOf(told document.Object) error {
	return m.errorOf(problemIn(told, http.StatusBadRequest, nil), Credentials{})
}

func (m Meanings) errorOf(p *problem, as Credentials) error {
	return m.of(p).Error(bounded.Redact(p.number(), as.secrets()...), calls.RefusalError{
		Code: Key{p.Code, p.Subcode}.String(), Message: calls.Shortened(bounded.Redact(p.Message, as.secrets()...)), Wait: p.Wait,
	})
}

// String returns the codes, such as "100/2018001" or "100".
func (k Key) String() string {
	if k.Subcode == 0 {
		return strconv.FormatInt(k.Code, 10)
	}
	return fmt.Sprintf("%d/%d", k.Code, k.Subcode)
}

// number returns the problem's codes, such as "code 100/2018001, call AbC".
func (p *problem) number() string {
	text := "status " + strconv.Itoa(p.Status)
	if key := (Key{p.Code, p.Subcode}); key != (Key{}) {
		text = "code " + key.String()
	}
	if p.Trace != "" {
		text += ", call " + p.Trace
	}
	return text
}

// unknownID is the code with which the API refuses an unknown id.
var unknownID = Key{Code: 100, Subcode: 33}

// NotFoundID converts the error of a call with an id: it returns NotFound if the API does not know the id.
func NotFoundID(err error) error {
	if refused := calls.RefusalIn(err); refused.Code == unknownID.String() {
		return boterr.New(boterr.NotFound, "", "%s", refused.Text)
	}
	return err
}
