package recording

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/render"
)

// Check configures the comparison of a recording with another implementation.
type Check struct {
	// Door returns the implementation's botctx.Caller for a scope. The ids in the scope are the implementation's.
	// Door is required.
	Door func(scope botctx.Scope) botctx.Caller
	// IDs maps ids of the recording to ids of the implementation, for records that exist before the first
	// call, such as a member. Ids that first appear in results are matched automatically.
	IDs map[string]string
	// Now is the implementation's clock. Without one its times must equal the recording's.
	Now func() time.Time
	// Advance moves the time of the implementation by the time between two recorded calls, for example
	// Platform.Advance of package fakes. It may be nil.
	Advance func(by time.Duration)
	// Within is the tolerance of times, in addition to the difference of the two clocks when the check
	// begins. The default is a second.
	Within time.Duration
}

// Difference is a place in which the implementation's answer differs from the recording.
type Difference struct {
	Call Call
	// Path is the place in the result, or in the error, such as "error.code".
	Path string
	// Recorded and Got are the two values, as JSON, or "none".
	Recorded, Got string
}

// String returns the difference on a line.
func (d Difference) String() string {
	return fmt.Sprintf("line %d: %s %s: %s was recorded, got %s", d.Call.Line, d.Call.Op, d.Path, d.Recorded, d.Got)
}

// Differences are the differences between a recording and an implementation.
type Differences []Difference

// String returns a line for each difference, or "" if there is none.
func (d Differences) String() string {
	var lines strings.Builder
	for _, one := range d {
		lines.WriteString(one.String() + "\n")
	}
	return lines.String()
}

// Check repeats the calls of the recording, one after the other, and returns the differences between the recorded
// answers and the new ones. Ids may differ if each id always has the same counterpart. Times may differ by the
// difference between the clocks. Messages of errors may differ. Redacted values are not compared. The calls belong to
// no run, so a message that the recorded run filled from changes it had not stored yet differs. Check returns an error
// only if ctx ends, and the differences are then incomplete, or if Door is missing.
func (r *Recording) Check(ctx context.Context, how Check) (Differences, error) {
	if how.Door == nil {
		return nil, boterr.Missing("Door", "a function that returns the implementation's botctx.Caller")
	}
	c := &checking{how: how, ids: newIDs(how.IDs)}
	if how.Within == 0 {
		c.how.Within = time.Second
	}
	if len(r.Calls) > 0 {
		c.at = r.Calls[0].CalledAt
		c.shift = c.now() - int64(c.at)
	}
	var all Differences
	for _, call := range r.Calls {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		all = append(all, c.call(ctx, call)...)
	}
	return all, nil
}

// checking is a running check.
type checking struct {
	how Check
	ids *ids
	// at is the current time of the recording. shift is the difference to the implementation's time, in
	// milliseconds.
	at    document.Timestamp
	shift int64
}

func (c *checking) now() int64 {
	if c.how.Now == nil {
		return int64(c.at)
	}
	return c.how.Now().UnixMilli()
}

// call makes a call and returns the differences of its answer.
func (c *checking) call(ctx context.Context, call Call) Differences {
	if call.CalledAt > c.at && c.how.Advance != nil {
		c.how.Advance(time.Duration(call.CalledAt-c.at) * time.Millisecond)
	}
	c.at = max(c.at, call.CalledAt)
	args, err := document.EncodeJSON(c.translated("", call.Params))
	if err != nil {
		return Differences{{Call: call, Path: fieldParams, Recorded: "JSON", Got: err.Error()}}
	}
	text, failed := c.how.Door(c.scope(call.Scope)).Call(ctx, string(call.Op), args)
	return c.compare(call, text, failed)
}

// scope returns a scope in the ids of the implementation.
func (c *checking) scope(s botctx.Scope) botctx.Scope {
	return botctx.Scope{
		App: c.ids.of(s.App), Channel: c.ids.of(s.Channel), Member: c.ids.of(s.Member), GroupExternalID: c.ids.of(s.GroupExternalID),
	}
}

// translated returns recorded params with the ids and the time of the implementation. name is the name of the
// field.
func (c *checking) translated(name string, value any) any {
	switch value := value.(type) {
	case string:
		return c.ids.of(value)
	case int64:
		if timeName.MatchString(name) {
			return value + c.shift
		}
	case document.Object:
		translated := document.O()
		for field, of := range value.All() {
			inside := field
			if strings.HasPrefix(field, "$") { // An operator belongs to the field around it.
				inside = name
			}
			translated = translated.With(field, c.translated(inside, of))
		}
		return translated
	case document.Array:
		var items []any
		for _, item := range value.All() {
			items = append(items, c.translated(name, item))
		}
		return document.ArrayOf(items)
	}
	return value
}

// compare returns the differences between the answer and the recording.
func (c *checking) compare(call Call, result json.RawMessage, failed error) Differences {
	found := errorDifferences(call.Err, failed)
	if len(found) == 0 {
		var got any
		if len(result) > 0 {
			read, err := document.ParseJSON(result)
			if err != nil {
				return Differences{{Call: call, Path: fieldResult, Recorded: render.Value(call.Result), Got: err.Error()}}
			}
			got = hider{}.value(read)
		}
		found = differences(fieldResult, call.Result, got, c.areAlike)
	}
	var all Differences
	for _, one := range found {
		recorded, got := texts(one)
		all = append(all, Difference{Call: call, Path: one.Path, Recorded: recorded, Got: got})
	}
	return all
}

// errorDifferences compares two errors, except for their messages.
func errorDifferences(want *boterr.Error, got error) []render.Change {
	var failed *boterr.Error
	if got != nil {
		failed = errorOf(got, "")
	}
	switch {
	case want == nil && failed == nil:
		return nil
	case want == nil:
		return []render.Change{{Path: fieldError, After: got.Error(), IsThere: true}}
	case failed == nil:
		return []render.Change{{Path: fieldError, Before: string(want.Code), WasThere: true}}
	}
	return differences(fieldError, document.O("code", string(want.Code), "field", want.Field),
		document.O("code", string(failed.Code), "field", failed.Field), areEqual)
}

// areAlike reports whether results are alike: ids must have counterparts, and times the same distance from now.
func (c *checking) areAlike(path string, want, got any) bool {
	switch want := want.(type) {
	case string:
		if got, isText := got.(string); isText && isID(path) && want != "" && got != "" {
			return c.ids.areOne(want, got)
		}
		return document.Equal(c.ids.of(want), got) || document.Equal(want, got)
	case int64:
		if got, isInteger := got.(int64); isInteger && timeName.MatchString(lastName(path)) {
			difference := got - want - c.shift
			return max(difference, -difference) <= c.how.Within.Milliseconds()
		}
	}
	return document.Equal(want, got)
}

// isRedacted reports whether a recorded value contained a credential.
func isRedacted(want any) bool {
	text, _ := want.(string)
	return strings.Contains(text, redacted)
}

// differences returns the differences between recorded and other values. Redacted values equal anything.
func differences(path string, want, got any, areAlike func(path string, want, got any) bool) []render.Change {
	return render.Comparison{IsByItem: true, AreAlike: func(path string, want, got any) bool {
		return isRedacted(want) || areAlike(path, want, got)
	}}.Changes(path, want, got)
}

func areEqual(_ string, want, got any) bool { return document.Equal(want, got) }

// longest bounds the bytes of a value that are shown.
const longest = 200

// texts returns the two values of a difference, cut to the longest.
func texts(of render.Change) (recorded, got string) {
	cut := func(text string) string {
		if len(text) > longest {
			return strings.ToValidUTF8(text[:longest], "") + "…"
		}
		return text
	}
	recorded, got = of.Values()
	return cut(recorded), cut(got)
}

// Replay answers from a recording: calls of one operation with the same params get the recorded answers in
// order, whatever other calls come between them. Its zero value has no calls. It is safe for concurrent use.
type Replay struct {
	of Recording

	mu   sync.Mutex
	used map[int]bool
}

// Replay returns a Replay of the recording, from its beginning.
func (r *Recording) Replay() *Replay { return &Replay{of: *r, used: map[int]bool{}} }

// Caller returns a botctx.Caller that answers the calls recorded for a scope. A call that was not recorded fails
// with Internal; the error describes the most similar recorded call.
func (r *Replay) Caller(scope botctx.Scope) botctx.Caller { return replayed{r, scope} }

// Operations returns operations that answer the calls recorded for a scope, as Caller does.
func (r *Replay) Operations(scope botctx.Scope) botctx.Operations {
	return botctx.FromCaller(r.Caller(scope))
}

// Left returns the calls that have not been replayed yet.
func (r *Replay) Left() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.of.Calls), func(c Call) bool { return r.used[c.N] })
}

type replayed struct {
	of    *Replay
	scope botctx.Scope
}

func (c replayed) Call(_ context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	params := any(document.O())
	if len(args) > 0 {
		read, err := document.ParseJSON(args)
		if err != nil {
			return nil, boterr.Wrap(name, err)
		}
		params = paramsOf(read)
	}
	found, err := c.of.take(Call{Scope: c.scope, Op: botctx.Op(name), Params: hider{}.value(params)})
	if err != nil {
		return nil, boterr.Wrap(name, err)
	}
	return found.result()
}

// take returns the next recorded call of the same scope, operation and params.
func (r *Replay) take(asked Call) (Call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	times := 0
	for _, call := range r.of.Calls {
		if !call.isLike(asked) {
			continue
		}
		if !r.used[call.N] {
			r.used[call.N] = true
			return call, nil
		}
		times++
	}
	return Call{}, boterr.New(boterr.Internal, "", "%s", r.of.unknown(asked, times))
}

// isLike reports whether two calls have the same scope, operation and params.
func (c Call) isLike(other Call) bool {
	return c.Op == other.Op && c.Scope == other.Scope && len(differences("", c.Params, other.Params, areEqual)) == 0
}

// unknown describes a call that was not recorded, or not as often.
func (r *Recording) unknown(asked Call, times int) string {
	if times > 0 {
		return fmt.Sprintf("this call was recorded %d times in %s, and is made once more: record it again", times, r.File)
	}
	var near *Call
	least := 0
	var ops []botctx.Op
	for i, call := range r.Calls {
		ops = append(ops, call.Op)
		if call.Op != asked.Op {
			continue
		}
		n := len(differences("", call.Params, asked.Params, areEqual))
		if call.Scope != asked.Scope {
			n++
		}
		if near == nil || n < least {
			near, least = &r.Calls[i], n
		}
	}
	if near != nil {
		return fmt.Sprintf("this call was not recorded in %s; the nearest is that of line %d, %s", r.File, near.Line, near.otherwise(asked))
	}
	text := "no call of this operation was recorded in " + cmp.Or(r.File, "this recording")
	if other := nearest.To(asked.Op, ops); other != "" {
		text += ": there is " + string(other)
	}
	return text
}

// otherwise describes the differences between a recorded call and a requested one.
func (c Call) otherwise(asked Call) string {
	var all []string
	if c.Scope != asked.Scope {
		all = append(all, fmt.Sprintf("for %s in the place of %s", nameOf(c.Scope), nameOf(asked.Scope)))
	}
	for _, one := range differences("", c.Params, asked.Params, areEqual) {
		recorded, got := texts(one)
		all = append(all, fmt.Sprintf("which has %s %s in the place of %s", one.Path, recorded, got))
	}
	return strings.Join(all, ", ")
}

// nameOf returns the scope for a reader.
func nameOf(s botctx.Scope) string {
	parts := slices.DeleteFunc([]string{s.App, s.Channel, s.Member, s.GroupExternalID}, func(part string) bool { return part == "" })
	return strings.Join(parts, "/")
}
