package botctx_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// named returns an interceptor that appends its name to log before and after each call.
func named(name string, log *[]string) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		*log = append(*log, name+" enters "+string(call.Op))
		result, err := next(ctx)
		*log = append(*log, name+" leaves")
		return result, err
	}
}

// newIntercepted returns a new platform with one data source, and the context of its member. The platform has no logic,
// so only the test calls operations.
func newIntercepted(t *testing.T, interceptors ...botctx.Interceptor) (*fakes.Platform, *botctx.Context) {
	t.Helper()
	p := fakes.New(interceptedBy(interceptors...), fakes.For(t))
	p.AddData("places", document.O("_id", "a", "n", 1))
	return p, p.AddMember(member.Member{FirstName: "Ada"}).Context()
}

func TestInterceptors_Order(t *testing.T) {
	t.Parallel()
	var log []string
	_, bot := newIntercepted(t, named("first", &log), named("second", &log))
	_, err := bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "places"})
	require.NoError(t, err)
	require.Equal(t, []string{
		"first enters countDataSource", "second enters countDataSource", "second leaves", "first leaves",
	}, log)
}

func TestInterceptors_CallByName(t *testing.T) {
	t.Parallel()
	var log []string
	p, bot := newCaller(t, interceptedBy(named("it", &log)))
	for name := range templates {
		args := arguments(t, p, name)
		log = nil
		_, err := bot.Call(t.Context(), name, []byte(args))
		require.NoError(t, err)
		require.Equal(t, []string{"it enters " + name, "it leaves"}, log)
	}
}

// Interceptors do not see the calls with which sends and runs load the channel and the member.
func TestInterceptors_NotInside(t *testing.T) {
	t.Parallel()
	var log []string
	p := fakes.New(fakes.For(t), interceptedBy(named("it", &log)))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello")) })
	p.AddMember(member.Member{}).Says("hi")
	require.Equal(t, []string{"it enters sendResponse", "it leaves"}, log)
}

func TestInterceptor_SeesCall(t *testing.T) {
	t.Parallel()
	var seen botctx.Call
	var result any
	var failure error
	_, bot := newIntercepted(t, func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		seen = *call
		result, failure = next(ctx)
		return result, failure
	})
	params := channel.GetParams{ChannelID: bot.Scope().Channel}
	found, err := bot.GetChannel(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, botctx.Call{Op: botctx.OpGetChannel, Params: params, Context: bot}, seen)
	require.Same(t, found, result)

	_, err = bot.GetChannel(t.Context(), channel.GetParams{ChannelID: "nowhere"})
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorIs(t, failure, boterr.NotFound)
}

func TestInterceptor_ReplacesParams(t *testing.T) {
	t.Parallel()
	_, bot := newIntercepted(t, func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		call.Params = member.GetParams{MemberID: call.Context.Scope().Member}
		return next(ctx)
	})
	found, err := bot.GetMember(t.Context(), member.GetParams{MemberID: "me"})
	require.NoError(t, err)
	require.Equal(t, bot.Scope().Member, found.ID)
}

func TestInterceptor_Answers(t *testing.T) {
	t.Parallel()
	canned := &member.Member{ID: "canned"}
	p, bot := newIntercepted(t, func(context.Context, *botctx.Call, botctx.Next) (any, error) {
		return canned, nil
	})
	found, err := bot.GetMember(t.Context(), member.GetParams{MemberID: "anybody"})
	require.NoError(t, err)
	require.Same(t, canned, found)
	require.Equal(t, canned, p.Calls(botctx.OpGetMember)[0].Result)
}

func TestInterceptor_Errors(t *testing.T) {
	t.Parallel()
	refused := errors.New("the limit of calls is reached")
	for name, test := range map[string]struct {
		failure error
		cause   error
		code    boterr.Code
	}{
		"of its own":       {refused, refused, boterr.Internal},
		"with a code":      {boterr.New(boterr.ResourceExhausted, "", "%w", refused), refused, boterr.ResourceExhausted},
		"a code alone":     {boterr.Unavailable, boterr.Unavailable, boterr.Unavailable},
		"an ended context": {context.DeadlineExceeded, context.DeadlineExceeded, boterr.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bot := newIntercepted(t, func(context.Context, *botctx.Call, botctx.Next) (any, error) {
				return &member.Member{ID: "beside the error"}, test.failure
			})
			found, err := bot.GetMember(t.Context(), member.GetParams{MemberID: bot.Scope().Member})
			requireFailure(t, err, "getMember", test.code, "")
			require.ErrorIs(t, err, test.cause)
			require.Nil(t, found, "beside an error the result is the zero value")
			require.Error(t, p.Calls()[0].Err)
		})
	}
}

func TestInterceptor_WrongTypes(t *testing.T) {
	t.Parallel()
	for name, interceptor := range map[string]botctx.Interceptor{
		"a result of another type": func(context.Context, *botctx.Call, botctx.Next) (any, error) { return "a text", nil },
		"params of another type": func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			call.Params = "a text"
			return next(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, bot := newIntercepted(t, interceptor)
			_, err := bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "places"})
			requireFailure(t, err, "countDataSource", boterr.Internal, "")
			require.ErrorContains(t, err, "string")
		})
	}
}

// door is a Caller that always returns the same result.
type door struct {
	result string
	err    error

	name string
	args string
}

func (d *door) Call(_ context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	d.name, d.args = name, string(args)
	return json.RawMessage(d.result), d.err
}

func TestFromCaller_WritesParams(t *testing.T) {
	t.Parallel()
	there := &door{result: `{"ok": 1, "member": null}`}
	_, err := botctx.FromCaller(there).FindAndModifyMember(t.Context(), member.FindAndModifyParams{
		Filter: document.O("b", 1, "a", 2), Patch: document.Set("meta.seen", true), WithModifier: new(false),
		SortBy: document.O("createdAt", -1, "_id", 1), Option: member.FindAndModifyOption{New: true},
	})
	require.NoError(t, err)
	require.Equal(t, "findAndModifyMember", there.name)
	require.Equal(t, document.O(
		"filter", document.O("b", 1, "a", 2), "patch", document.O("$set", document.O("meta.seen", true)),
		"withModifier", false, "sortBy", document.O("createdAt", -1, "_id", 1), "option", document.O("new", true),
	).String(), there.args)
}

func TestFromCaller_ReadsResults(t *testing.T) {
	t.Parallel()
	counted, err := botctx.FromCaller(&door{result: `7`}).FetchDataFromDataSource(t.Context(), datasource.FetchParams{
		DataSourceID: "places", Count: true,
	})
	require.NoError(t, err)
	require.Equal(t, datasource.FetchResult{Count: 7}, counted)
	found, err := botctx.FromCaller(&door{result: `{"_id": "a", "loyalty": 7}`}).GetMember(t.Context(), member.GetParams{})
	require.NoError(t, err)
	require.Equal(t, 7, document.Get(found.Unknown, "loyalty", 0))
}

func TestFromCaller_BrokenDoor(t *testing.T) {
	t.Parallel()
	cut := errors.New("the wire is cut")
	for name, test := range map[string]struct {
		door door
		code boterr.Code
	}{
		"no JSON":                  {door{result: `{`}, boterr.Internal},
		"JSON of another type":     {door{result: `{"ok": "yes"}`}, boterr.Internal},
		"a text":                   {door{result: `"yes"`}, boterr.Internal},
		"an error of its own":      {door{err: cut}, boterr.Internal},
		"an error with a code":     {door{err: boterr.New(boterr.Conflict, "", "no")}, boterr.Conflict},
		"an error and half a JSON": {door{result: `{`, err: boterr.Unavailable}, boterr.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := botctx.FromCaller(&test.door).FindAndModifyMember(t.Context(), member.FindAndModifyParams{})
			requireFailure(t, err, "findAndModifyMember", test.code, "")
		})
	}
}

func TestFromCaller_NoJSON(t *testing.T) {
	t.Parallel()
	there := &door{}
	_, err := botctx.FromCaller(there).PatchMembers(t.Context(), member.PatchParams{Patch: document.O("meta", func() {})})
	requireFailure(t, err, "patchMembers", boterr.InvalidArgument, "patch")
	require.Empty(t, there.name, "the door is not called")
}
