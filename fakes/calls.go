package fakes

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
)

// Call is one call of an operation that bot logic made.
type Call struct {
	// CalledAt is the virtual time at which the call began.
	CalledAt time.Time
	// Scope is the scope of the call.
	Scope botctx.Scope
	Op    botctx.Op
	// Params is the operation's params struct, such as member.GetParams.
	Params any
	// Result is the operation's result. It is empty if the call failed. But if a send reached only some of its
	// recipients, Result holds the result for each recipient.
	Result any
	// Err is the error that the call returned.
	Err error
}

// String returns the call as one line: its name, its params, and its result in JSON or its error. For a send
// that failed for some recipients, the line includes the number reached. Credentials are redacted.
func (c Call) String() string { return display.Text(c.line()) }

// GoString returns String, so that test failures are readable.
func (c Call) GoString() string { return c.String() }

// line formats the call without redaction, for the transcript, which redacts lines when they are read.
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

// reached returns a note with the number of recipients that a failed send reached, or "" for other results.
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

// jsonText returns a value as JSON for a reader, with readable times. A slog.LogValuer is shown by its log
// value.
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

// Calls returns the calls made by bot logic, in the order in which they returned: at least the newest 100,000. With
// ops, it returns only calls of these operations.
func (p *Platform) Calls(ops ...botctx.Op) []Call {
	calls := slices.Clone(p.calls.all())
	if len(ops) == 0 {
		return calls
	}
	return slices.DeleteFunc(calls, func(c Call) bool { return !slices.Contains(ops, c.Op) })
}

// interceptorOf returns the interceptor of a process. It refuses calls once the process has crashed, applies
// planned faults, and records calls.
func (p *Platform) interceptorOf(by *process) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if err := by.err(); err != nil {
			return nil, err
		}
		made := Call{CalledAt: p.Now(), Scope: call.Context.Scope(), Op: call.Op, Params: copyOf(call.Params)}
		result, err := p.carryOut(ctx, call, next)
		made.Result, made.Err = copyOf(result), err
		p.calls.add(made)
		doubt := p.doubt(ctx, made)
		switch {
		case err != nil:
			p.notef("%s%s", made.line(), framesOf(err))
		case beginsWith(call.Op, "get", "fetch", "count"):
			p.transcript.add(line{Entry: render.Entry{At: p.Now()}, isDetail: true, text: func() string {
				return fmt.Sprintf("%s %s -> %d found%s", made.Op, jsonText(made.Params), numberFound(made.Result), doubt)
			}})
		case !beginsWith(call.Op, "send", "golf", "upload"): // Messages and files have lines of their own kind.
			p.transcript.add(line{Entry: render.Entry{At: p.Now()}, text: func() string { return made.line() + doubt }})
		}
		return result, err
	}
}

func beginsWith(op botctx.Op, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(string(op), prefix) })
}

// history is an ordered list of past things on a platform, such as calls. It is safe for concurrent use.
type history[T any] struct {
	mu   sync.Mutex
	made []T
	// most is the number of the newest things that are kept at least. 0 keeps all.
	most int
}

// fewMade is the initial capacity of a history, enough for a test of a few turns. mostMade is the number of calls and
// of lines of the transcript that a platform keeps at least.
const (
	fewMade  = 16
	mostMade = 100_000
)

func (h *history[T]) add(more ...T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made == nil {
		h.made = make([]T, 0, fewMade)
	}
	if h.most > 0 && len(h.made) >= 2*h.most {
		h.made = slices.Clone(h.made[h.most:])
	}
	h.made = append(h.made, more...)
}

// all returns the things so far, oldest first. The caller must not change them, because snapshots share them.
func (h *history[T]) all() []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.made)
}

// set replaces the history by the result of all.
func (h *history[T]) set(made []T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made = made
}

// numberFound returns the number of records in a result: a list, one record or none, or a count.
func numberFound(result any) int64 {
	switch of := result.(type) {
	case nil:
		return 0
	case int64:
		return of
	case datasource.FetchResult:
		return max(of.Count, int64(len(of.Entries)))
	case datasource.FetchDistinctResult:
		return max(of.Count, int64(len(of.Entries)))
	case datasource.FetchGeoNearResult:
		return max(of.Count, int64(len(of.Entries)))
	case datasource.FindAndModifyResult:
		return numberFound(of.Value)
	}
	switch v := reflect.ValueOf(result); {
	case v.Kind() == reflect.Slice:
		return int64(v.Len())
	case v.Kind() == reflect.Pointer && v.IsNil():
		return 0
	default:
		return 1
	}
}

// doubtFields returns a remark on a call that found nothing if its filter names a field that no entry has and
// that resembles an existing one. Otherwise it returns "".
func (p *Platform) doubtFields(ctx context.Context, of dataSource, made Call) string {
	if p.dataSources.isOfHost(of.app) {
		return ""
	}
	has := p.fieldsOf(ctx, of)
	for field := range filterOf(made).All() {
		field, _, _ = strings.Cut(field, ".")
		if near := nearest.To(field, has); near != "" && near != field {
			return fmt.Sprintf(" (no entry has the field %q; did you mean %q?)", field, near)
		}
	}
	return ""
}

// mostEntries is the largest data source whose fields are compared.
const mostEntries = 1000

func (p *Platform) fieldsOf(ctx context.Context, of dataSource) []string {
	entries := datasources.New(p.Runtime().Env(), record.Scope{App: of.app})
	count, err := entries.CountDataSource(ctx, datasource.CountParams{DataSourceID: of.name})
	if err != nil || count > mostEntries {
		return nil
	}
	found, err := entries.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: of.name})
	if err != nil {
		return nil
	}
	var fields []string
	for _, entry := range found.Entries {
		for field := range entry.All() {
			fields = append(fields, field)
		}
	}
	return fields
}

// filterOf returns the filter of a call, or an empty one if it has none.
func filterOf(made Call) document.Object {
	params, err := document.Encode(made.Params)
	if err != nil {
		return document.Object{}
	}
	return document.Get(params, "filter", document.Object{})
}
