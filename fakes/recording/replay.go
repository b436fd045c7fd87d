package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
)

// Replay answers as a recording does: of the calls of one operation with the same params in their order,
// whatever stands between them. It is safe for concurrent use.
type Replay struct {
	of *Recording

	mu   sync.Mutex
	used map[int]bool
}

// Replay returns what answers as the recording does, from its beginning.
func (r *Recording) Replay() *Replay { return &Replay{of: r, used: map[int]bool{}} }

// Caller returns a door that answers the calls that were made for a scope. A call that was not recorded
// is Internal, with the nearest one that was.
func (r *Replay) Caller(scope record.Scope) botctx.Caller { return replayed{r, scopeOf(scope)} }

// Operations returns operations that answer the calls that were made for a scope, as Caller does.
func (r *Replay) Operations(scope record.Scope) botctx.Operations {
	return botctx.FromCaller(r.Caller(scope))
}

// Left returns the calls that nothing has asked for yet.
func (r *Replay) Left() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.of.Calls), func(c Call) bool { return r.used[c.N] })
}

// replayed is a door of a replay.
type replayed struct {
	of    *Replay
	scope Scope
}

// Call implements botctx.Caller.
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

// take returns the next call that was recorded of the same scope, operation and params.
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

// isLike reports whether two calls ask for the same.
func (c Call) isLike(other Call) bool {
	return c.Op == other.Op && c.Scope == other.Scope && len(likeness(areEqual).differences("", c.Params, other.Params)) == 0
}

// unknown says what was recorded in the place of a call that was not, or only so many times.
func (r *Recording) unknown(asked Call, times int) string {
	if times > 0 {
		return fmt.Sprintf("this call was recorded %d times in %s, and is made once more: record it again", times, r.File)
	}
	var near *Call
	least := 0
	var ops []string
	for i, call := range r.Calls {
		ops = append(ops, string(call.Op))
		if call.Op != asked.Op {
			continue
		}
		n := len(likeness(areEqual).differences("", call.Params, asked.Params))
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
	text := "no call of this operation was recorded in " + r.File
	if other := nearest.To(string(asked.Op), ops); other != "" {
		text += ": there is " + other
	}
	return text
}

// otherwise says in what a recorded call differs from one that is asked for.
func (c Call) otherwise(asked Call) string {
	var all []string
	if c.Scope != asked.Scope {
		all = append(all, fmt.Sprintf("for %s in the place of %s", c.Scope, asked.Scope))
	}
	for _, one := range likeness(areEqual).differences("", c.Params, asked.Params) {
		all = append(all, fmt.Sprintf("which has %s %s in the place of %s", one.path, text(one.want), text(one.got)))
	}
	return strings.Join(all, ", ")
}

// String returns the scope for a reader.
func (s Scope) String() string {
	parts := slices.DeleteFunc([]string{s.App, s.Channel, s.Member, s.Group}, func(part string) bool { return part == "" })
	return strings.Join(parts, "/")
}
