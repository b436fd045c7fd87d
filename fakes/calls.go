package fakes

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// Call is one call of an operation that bot logic made.
type Call struct {
	// CalledAt is the virtual time at which the call began.
	CalledAt time.Time
	// Scope is for whom the call was made.
	Scope record.Scope
	Op    botctx.Op
	// Params is the operation's params struct, such as member.GetMemberParams.
	Params any
	// Result is what the operation returned. Where the call failed it is empty, but for a send to
	// several that reached some: it then tells what came of each.
	Result any
	// Err is the error that the call returned.
	Err error
}

// String returns the call as one line: name, params, and result in JSON or error, with how
// many a send to several reached in spite of it. Credentials are redacted.
func (c Call) String() string { return display.Text(c.line()) }

// GoString is String, for failures of tests.
func (c Call) GoString() string { return c.String() }

// line is String with credentials, for the transcript, which redacts what is read of it.
func (c Call) line() string {
	var line strings.Builder
	line.WriteString(string(c.Op) + " " + jsonText(c.Params))
	if c.Err != nil {
		line.WriteString(" ! " + c.Err.Error() + reached(c.Result))
	} else {
		line.WriteString(" -> " + jsonText(c.Result))
	}
	return line.String()
}

// reached tells how many of its recipients a send that failed reached, "" where that is no
// result of a send.
func reached(result any) string {
	var results []send.Result
	switch result := result.(type) {
	case send.SendResponseResult:
		results = result.Results
	case send.SendAlphaResponseToMemberIDsResult:
		results = result.Results
	case send.SendDeltaResponseResult:
		results = result.Results
	}
	if len(results) == 0 {
		return ""
	}
	failed := 0
	for _, r := range results {
		if r.Err != nil {
			failed++
		}
	}
	return fmt.Sprintf(" (%d of %d reached)", len(results)-failed, len(results))
}

// jsonText returns a value as JSON for a reader, with its times as such. A value that says itself what logs may show of
// it is shown by that.
func jsonText(v any) string {
	if private, ok := v.(slog.LogValuer); ok {
		v = private.LogValue().Resolve().Any()
	}
	value, err := document.ForReader(v)
	var text []byte
	if err == nil {
		text, err = document.AppendJSON(nil, value)
	}
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(text)
}

// Calls returns the calls that bot logic made, in the order in which they returned:
// those of the operations named, or all.
func (p *Platform) Calls(ops ...botctx.Op) []Call {
	calls := p.calls.all()
	if len(ops) == 0 {
		return calls
	}
	return slices.DeleteFunc(calls, func(c Call) bool { return !slices.Contains(ops, c.Op) })
}

// recordCall is the interceptor that records calls.
func (p *Platform) recordCall(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	made := Call{CalledAt: p.Now(), Scope: call.Context.Scope(), Op: call.Op, Params: copyOf(call.Params)}
	result, err := next(ctx)
	made.Result, made.Err = copyOf(result), err
	p.calls.add(made)
	doubt := p.doubt(ctx, made)
	switch {
	case err != nil:
		p.notef("%s%s", made.line(), framesOf(err))
	case isRead(call.Op):
		p.noteDetailf("%s %s -> %d found%s", made.Op, jsonText(made.Params), numberFound(made.Result), doubt)
	case !hasOtherLine(call.Op):
		p.notef("%s%s", made.line(), doubt)
	}
	return result, err
}

// isRead reports whether an operation only reads.
func isRead(op botctx.Op) bool { return beginsWith(op, "get", "fetch", "count") }

// hasOtherLine reports whether what a successful call sent or stored has a line of its own.
func hasOtherLine(op botctx.Op) bool { return beginsWith(op, "send", "golf", "upload") }

func beginsWith(op botctx.Op, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(string(op), prefix) })
}
