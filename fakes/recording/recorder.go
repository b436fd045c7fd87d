// Package recording records calls of operations as lines of JSON, answers from them, and compares another
// implementation with them.
//
//   - To record the calls of a Caller, of Operations or of a Runtime, use [New] and [Recorder.Caller],
//     [Recorder.Operations] or [Recorder.Intercept].
//   - To answer from a recording, use [Read] and [Recording.Replay].
//   - To check whether another implementation, such as the platform in memory, gives the same answers, use
//     [Recording.Check].
//
// A recording begins with a line that identifies it, and has a line for each call, in the order in which they
// returned:
//
//	{"recording":1}
//	{"n":1,"at":1767225600000,"scope":{"app":"app-1","member":"m-1"},"op":"countDataSource","params":{...},"result":2}
//	{"n":2,"at":1767225600000,"scope":{...},"op":"getMember","params":{"memberId":"x"},"error":{"op":"getMember","code":"NotFound",...}}
//
// at is the beginning of the call, in Unix milliseconds of the recording's clock. Credentials are redacted:
// fields with names such as accessToken, credentials in texts and URLs, and the texts of [Recorder.Hide]. Numbers that JSON
// cannot represent, NaN and infinities, are null. Calls that cannot be written as JSON at all are left out, such as a call
// with malformed arguments.
package recording

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// Recorder writes calls to a recording. It is safe for concurrent use.
type Recorder struct {
	now func() time.Time

	mu     sync.Mutex
	out    io.Writer
	n      int
	hidden []string
	err    error
}

// New returns a recorder that writes to out, with the times of a clock, such as time.Now. Each line is
// written by one Write, when its call has returned.
func New(out io.Writer, now func() time.Time) *Recorder {
	r := &Recorder{out: out, now: now}
	_, r.err = io.WriteString(out, head+"\n")
	return r
}

// Hide redacts texts wherever they appear in params, results and errors from now on, such as a secret in a
// field with another name. Empty texts are ignored.
func (r *Recorder) Hide(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hidden = append(r.hidden, slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == "" })...)
	slices.SortFunc(r.hidden, func(a, b string) int { return len(b) - len(a) }) // A secret that contains another one must be redacted first.
}

// Err returns the first error of writing, or nil. After an error, calls are no longer recorded.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Caller wraps a botctx.Caller of a scope and records its calls.
func (r *Recorder) Caller(of botctx.Caller, scope botctx.Scope) botctx.Caller {
	return recorded{r, of, scope}
}

// Operations wraps the operations of a scope, so that their calls are recorded.
func (r *Recorder) Operations(of botctx.Operations, scope botctx.Scope) botctx.Operations {
	return botctx.FromCaller(r.Caller(callerOf(of), scope))
}

// recorded is the botctx.Caller returned by Recorder.Caller.
type recorded struct {
	by    *Recorder
	of    botctx.Caller
	scope botctx.Scope
}

func (c recorded) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	at := c.by.now()
	result, err := c.of.Call(ctx, name, args)
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	params, bad := document.ParseJSON(args)
	var value any
	if bad == nil && len(result) > 0 {
		value, bad = document.ParseJSON(result)
	}
	if bad == nil { // A Replay refuses other calls even without a record.
		c.by.add(Call{CalledAt: document.TimestampOf(at), Scope: c.scope, Op: botctx.Op(name), Params: params, Result: value}, err)
	}
	return result, err
}

// Intercept is an interceptor that records each call, for botctx.Config:
//
//	Interceptors: []botctx.Interceptor{recorder.Intercept},
func (r *Recorder) Intercept(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	at := r.now()
	params, bad := valueOf(call.Params) // The operation may modify the params.
	result, err := next(ctx)
	var value any
	if bad == nil && (err == nil || hasOutcomes(result)) {
		value, bad = valueOf(result)
	}
	if bad == nil {
		r.add(Call{CalledAt: document.TimestampOf(at), Scope: call.Context.Scope(), Op: call.Op, Params: params, Result: value}, err)
	}
	return result, err
}

// hasOutcomes reports whether a result is returned together with an error.
func hasOutcomes(result any) bool {
	kept, is := result.(interface{ HasOutcomes() bool })
	return is && kept.HasOutcomes()
}

// valueOf converts a Go value to a document value, by its JSON.
func valueOf(v any) (any, error) {
	text, err := document.EncodeLossyJSON(v)
	if err != nil {
		return nil, err
	}
	return document.ParseJSON(text)
}

// add writes a call and its error, if the whole line can be written as JSON: around a value with the most levels of
// nesting it cannot.
func (r *Recorder) add(call Call, failed error) {
	if failed != nil {
		call.Err = errorOf(failed, call.Op)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	call.N = r.n + 1
	hide := hider{r.hidden}
	call.Params, call.Result = hide.value(call.Params), hide.value(call.Result)
	if call.Err != nil {
		call.Err.Field, call.Err.Err = hide.own(call.Err.Field), errors.New(hide.text(call.Err.Message()))
	}
	line, err := document.EncodeJSON(call.object())
	if err != nil {
		return
	}
	r.n = call.N
	_, r.err = r.out.Write(append(line, '\n'))
}

func errorOf(err error, op botctx.Op) *boterr.Error {
	coded, is := boterr.AsError(err)
	if !is {
		coded = boterr.New(boterr.CodeOf(err), "", "%w", err)
	}
	own := *coded
	if own.Op == "" {
		own.Op = string(op)
	}
	return &own
}

// redacted replaces a credential, as in display.Redact.
const redacted = "[redacted]"

// hider redacts credentials in values.
type hider struct{ secrets []string }

// value returns a value of a document without credentials.
func (h hider) value(value any) any {
	switch value := value.(type) {
	case string:
		return h.text(value)
	case document.Object:
		hidden := document.O()
		for name, field := range value.All() {
			if display.IsCredential(name) && field != nil {
				hidden = hidden.With(h.own(name), redacted)
			} else {
				hidden = hidden.With(h.own(name), h.value(field))
			}
		}
		return hidden
	case document.Array:
		var items []any
		for _, item := range value.All() {
			items = append(items, h.value(item))
		}
		return document.ArrayOf(items)
	default:
		return value
	}
}

// text returns a text without credentials.
func (h hider) text(text string) string { return display.Redact(h.own(text)) }

// own returns a text without the hider's own secrets.
func (h hider) own(text string) string {
	for _, secret := range h.secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// ids maps ids between a recording and an implementation.
type ids struct {
	// got maps ids of the recording to ids of the implementation. isTaken is the set of the latter.
	got     map[string]string
	isTaken map[string]bool
}

func newIDs(known map[string]string) *ids {
	all := &ids{got: map[string]string{}, isTaken: map[string]bool{}}
	maps.Copy(all.got, known)
	for got := range maps.Values(known) {
		all.isTaken[got] = true
	}
	return all
}

// of returns the implementation's id for a recorded one, or the text itself.
func (i *ids) of(recorded string) string {
	if got, isKnown := i.got[recorded]; isKnown {
		return got
	}
	return recorded
}

// areOne reports whether two ids may be counterparts: because they already are, or because neither has one.
func (i *ids) areOne(recorded, got string) bool {
	if known, hasOne := i.got[recorded]; hasOne || i.isTaken[got] {
		return hasOne && known == got
	}
	i.got[recorded], i.isTaken[got] = got, true
	return true
}

// The names of fields with ids, and of fields with times.
var (
	idName = regexp.MustCompile(`^(_?id|.*(Id|Ids|ID|IDs|[eE]tag)|ts|from|to|` +
		`member|channel|group|agenda|assignment|assignee|outlet|inlet)$`)
	timeName = regexp.MustCompile(`^(.*[a-z]At|timestamp|runUntil|startTime|endTime|date)$`)
)

// isID reports whether the value at a path is an id: by its name, or the name of a list around it.
func isID(path string) bool {
	return idName.MatchString(lastName(path)) || strings.Contains(path, "Ids.")
}

// lastName returns the last field name in a path, ignoring indexes.
func lastName(path string) string {
	for strings.HasSuffix(path, "]") {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}
