package recording_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/recording"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// shop is a platform with a member and some orders.
type shop struct {
	*fakes.Platform

	ada *fakes.Actor
}

// newShop returns a shop whose clock begins at a time, and whose ids depend on the number of earlier members.
func newShop(t *testing.T, start time.Time, before int) shop {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.StartAt(start))
	for range before {
		p.AddMember(member.Member{})
		p.AddData("others", document.O("n", 1))
	}
	p.AddData("orders", document.O("_id", "o-1", "left", 3), document.O("_id", "o-2", "left", 0))
	p.Handle(&botctx.Node{ID: "reminder", Responses: botctx.Say("Still yours."), Entry: true})
	return shop{p, p.AddMember(member.Member{FirstName: "Ada"})}
}

// work calls operations of several kinds.
func work(t *testing.T, bot botctx.Operations, now func() time.Time, memberID string) {
	t.Helper()
	ctx := t.Context()
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "orders", Filter: document.O("left", document.O("$gt", 0)), Patch: document.Inc("left", -1),
	})
	require.NoError(t, err)
	_, err = bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "bills", Data: []document.Object{document.O("of", memberID, "cents", 2500)},
	})
	require.NoError(t, err)
	made, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: memberID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(now().Add(time.Hour)), Tag: "order",
	})
	require.NoError(t, err)
	_, err = bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: memberID, Tag: "order"})
	require.NoError(t, err)
	require.NotEmpty(t, made.ID)
	_, err = bot.GetMember(ctx, member.GetParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("Thank you.")})
	require.NoError(t, err)
	_, err = bot.CountDataSource(ctx, datasource.CountParams{DataSourceID: "bills"})
	require.NoError(t, err)
}

func recordedWork(t *testing.T, s shop) string {
	t.Helper()
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	work(t, recorder.Operations(s.ada.Context(), s.ada.Scope()), s.Now, s.ada.ID())
	require.NoError(t, recorder.Err())
	return out.String()
}

func read(t *testing.T, text string) *recording.Recording {
	t.Helper()
	r, err := recording.Read("calls.jsonl", strings.NewReader(text))
	require.NoError(t, err)
	return r
}

func TestRecorder_Lines(t *testing.T) {
	t.Parallel()
	text := recordedWork(t, newShop(t, fakes.Start(), 0))
	lines := strings.Split(text, "\n")
	require.Equal(t, `{"recording":1}`, lines[0])
	require.True(t, strings.HasPrefix(lines[1], `{"n":1,"at":1767225600000,"scope":{"app":"app-1","channel":"channel-1","member":"member-1"},`+
		`"op":"findAndModifyDataFromDataSource","params":{"dataSourceId":"orders",`), lines[1])
	require.Contains(t, text, `,"error":{"op":"getMember","code":"NotFound","field":`)
	r := read(t, text)
	require.Len(t, r.Calls, 7)
	require.Equal(t, 8, r.Calls[6].Line)
	require.Equal(t, int64(1), r.Calls[6].Result)
}

// bare are operations that do not implement botctx.Caller.
type bare struct{ botctx.Operations }

func TestRecorder_OfAnyOperations(t *testing.T) {
	t.Parallel()
	ofDoor := recordedWork(t, newShop(t, fakes.Start(), 0))
	s := newShop(t, fakes.Start(), 0)
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	work(t, recorder.Operations(bare{botctx.FromCaller(s.ada.Context())}, s.ada.Scope()), s.Now, s.ada.ID())
	require.Equal(t, ofDoor, out.String())
}

func TestRecorder_Intercept(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Interceptors = append(c.Interceptors, recording.New(&out, c.Now).Intercept)
	}))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.GetMember(ctx, member.GetParams{MemberID: "nobody"})
		return errors.Join(bot.Reply(ctx, send.Text("Hi {{firstName}}")), err)
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	require.Error(t, ada.TrySays("hi"))
	r := read(t, out.String())
	require.Len(t, r.Calls, 2)
	require.Equal(t, botctx.OpGetMember, r.Calls[0].Op)
	require.Equal(t, boterr.NotFound, r.Calls[0].Err.Code)
	require.Equal(t, "getMember", r.Calls[0].Err.Op)
	require.Equal(t, botctx.OpSendResponse, r.Calls[1].Op)
	require.Equal(t, ada.Scope(), r.Calls[1].Scope)
}

// Simultaneous calls have separate lines.
func TestRecorder_AtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	bot := recorder.Operations(s.ada.Context(), s.ada.Scope())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders"})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Len(t, read(t, out.String()).Calls, 20)
}

// broken is a writer whose third write fails.
type broken struct{ writes int }

func (b *broken) Write(text []byte) (int, error) {
	b.writes++
	if b.writes == 3 {
		return 0, errors.New("the disk is full")
	}
	return len(text), nil
}

func TestRecorder_ThatCannotWrite(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	out := &broken{}
	recorder := recording.New(out, s.Now)
	work(t, recorder.Operations(s.ada.Context(), s.ada.Scope()), s.Now, s.ada.ID())
	require.ErrorContains(t, recorder.Err(), "the disk is full")
	require.Equal(t, 3, out.writes, "nothing follows the line that is missing")
}

// secrets is a botctx.Caller whose answers contain credentials of each kind.
type secrets struct{}

func (secrets) Call(context.Context, string, []byte) (result []byte, err error) {
	return []byte(`{"accessToken":"hush-1","deep":[{"api_key":{"value":"hush-2"}}],"url":"https://me:hush-3@example.com/?token=hush-4",` +
		`"header":"Authorization: Bearer hush-5","odd":"x hush-6 y","name":"Ada","token":null}`), nil
}

func TestRecorder_HidesCredentials(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	recorder.Hide("hush-6", "")
	door := recorder.Caller(door(secrets{}.Call), botctx.Scope{})
	result, err := door.Call(t.Context(), "getMember", []byte(`{"memberId":"https://a:hush-7@b","password":"hush-8","headers":{"Cookie":"hush-9"}}`))
	require.NoError(t, err)
	require.Contains(t, string(result), "hush-1", "who calls gets what there is")
	require.NotContains(t, out.String(), "hush")
	call := read(t, out.String()).Calls[0]
	require.Equal(t, "Ada", document.Get(call.Result.(document.Object), "name", ""))
	require.Equal(t, "[redacted]", document.Get(call.Result.(document.Object), "accessToken", ""))
	token, hasToken := call.Result.(document.Object).Field("token")
	require.Nil(t, token)
	require.True(t, hasToken)

	replayed, err := read(t, out.String()).Replay().Caller(botctx.Scope{}).Call(t.Context(), "getMember",
		[]byte(`{"headers":{"Cookie":"hush-10"},"memberId":"https://a:other@b","password":"another"}`))
	require.NoError(t, err, "what is hidden is not compared")
	require.Contains(t, string(replayed), `"name":"Ada"`)
}

func TestRecorder_HidesItsOwnSecrets(t *testing.T) {
	t.Parallel()
	for args, hidden := range map[string]string{
		`{"memberId":"hush-whole-tail"}`: "-tail", `{"memberId":"hush-whole"}`: "-whole", `{"by":{"hush":1}}`: `{"hush":1}`,
	} {
		var out bytes.Buffer
		recorder := recording.New(&out, fakes.Start)
		recorder.Hide("hush")
		recorder.Hide("hush-whole", "hush-whole-tail")
		_, err := recorder.Caller(door(secrets{}.Call), botctx.Scope{}).Call(t.Context(), "getMember", []byte(args))
		require.NoError(t, err)
		require.NotContains(t, out.String(), hidden)
	}
}

func TestRecorder_HidesCredentialsOfErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	recorder.Hide("hush-2")
	failing := door(func(context.Context, string, []byte) ([]byte, error) {
		return nil, boterr.New(boterr.Unavailable, "filter.hush-2", "https://me:hush-1@example.com says hush-2")
	})
	_, err := recorder.Caller(failing, botctx.Scope{}).Call(t.Context(), "getMember", nil)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.NotContains(t, out.String(), "hush")
	require.Contains(t, out.String(), `"code":"Unavailable"`)
}

// A language model may call an operation with malformed JSON. Later calls must still be recorded.
func TestRecorder_MalformedCall(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	door := recorder.Caller(s.ada.Context(), s.ada.Scope())
	_, err := door.Call(t.Context(), "getMember", []byte(`{"memberId":`))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = door.Call(t.Context(), "getMember", []byte(`{"memberId":"`+s.ada.ID()+`"}`))
	require.NoError(t, err)
	require.NoError(t, recorder.Err())
	require.Len(t, read(t, out.String()).Calls, 1)
}

func TestRecorder_ValuesThatAreNotJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Interceptors = []botctx.Interceptor{recorder.Intercept} }))
	p.AddData("odd", document.O("_id", 1, "x", math.NaN(), "y", math.Inf(1)))
	bot := p.AddMember(member.Member{}).Context()
	_, err := bot.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: "odd", Filter: document.O()})
	require.NoError(t, err)
	_, err = bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "odd", Filter: document.O("a")})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "odd", Filter: document.O("x", math.NaN())})
	require.NoError(t, err)
	require.NoError(t, recorder.Err())
	calls := read(t, out.String()).Calls
	require.Len(t, calls, 2, "only the call without an encoding is left out")
	require.Contains(t, fmt.Sprint(calls[0].Result), `"x":null,"y":null`)
	require.Contains(t, fmt.Sprint(calls[1].Params), `{"x":null}`)
}

// The line of a call has more levels of nesting than its params.
func TestRecorder_DeepestParams(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	door := recorder.Caller(door(secrets{}.Call), botctx.Scope{})
	inner := document.MaxNesting - 1
	_, err := door.Call(t.Context(), "getMember", []byte(`{"a":`+strings.Repeat("[", inner)+strings.Repeat("]", inner)+`}`))
	require.NoError(t, err)
	_, err = door.Call(t.Context(), "getMember", nil)
	require.NoError(t, err)
	require.NoError(t, recorder.Err())
	require.Len(t, read(t, out.String()).Calls, 1)
}

func TestCheck_NeedsADoor(t *testing.T) {
	t.Parallel()
	_, err := read(t, lines()).Check(t.Context(), recording.Check{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestReplay_Zero(t *testing.T) {
	t.Parallel()
	var none recording.Replay
	require.Empty(t, none.Left())
	_, err := none.Caller(botctx.Scope{}).Call(t.Context(), "getMember", nil)
	require.ErrorContains(t, err, "no call of this operation was recorded")
}

func check(t *testing.T, text string, s shop, recordedAda string) recording.Differences {
	t.Helper()
	found, err := read(t, text).Check(t.Context(), recording.Check{
		Door:    func(scope botctx.Scope) botctx.Caller { return s.Operations(scope) },
		IDs:     map[string]string{recordedAda: s.ada.ID()},
		Now:     s.Now,
		Advance: s.Advance,
	})
	require.NoError(t, err)
	return found
}

// Another platform has other ids and another clock, and gives the same answers.
func TestCheck_AnswersAlike(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	text := recordedWork(t, s)
	other := newShop(t, fakes.Start().Add(777*time.Hour), 3)
	require.NotEqual(t, s.ada.ID(), other.ada.ID())
	require.Empty(t, check(t, text, other, s.ada.ID()).String())
	require.Equal(t, "Thank you.", other.ada.Last())
	require.Empty(t, other.ada.Agendas())
}

// Before a later call, as much time passes in the implementation, and due agendas run.
func TestCheck_LetsTimePass(t *testing.T) {
	t.Parallel()
	r := read(t, lines(
		`{"n":1,"at":5000,"scope":{"member":"m"},"op":"newAgenda","params":{"memberId":"m","nodeCompositeId":"reminder","nextRunAt":3605000},`+
			`"error":{"code":"Internal"}}`,
		`{"n":2,"at":3606000,"scope":{"member":"m"},"op":"countDataSource",`+
			`"params":{"dataSourceId":"orders","filter":{"createdAt":{"$lte":3606000}}},"result":2}`,
		`{"n":3,"at":3606000,"scope":{"member":"m"},"op":"countDataSource","params":{"dataSourceId":"bills"},"result":0}`,
	))
	other := newShop(t, fakes.Start(), 0)
	found, err := r.Check(t.Context(), recording.Check{
		Door: func(scope botctx.Scope) botctx.Caller { return other.Operations(scope) },
		IDs:  map[string]string{"m": other.ada.ID()}, Now: other.Now, Advance: other.Advance,
	})
	require.NoError(t, err)
	require.Equal(t, "line 2: newAgenda error: \"Internal\" was recorded, got none\n", found.String())
	require.Equal(t, "Still yours.", other.ada.Last())
	require.Equal(t, fakes.Start().Add(3601*time.Second), other.Now())
}

// answers returns a botctx.Caller that gives its answers one after the other.
func answers(all ...string) func(botctx.Scope) botctx.Caller {
	return func(botctx.Scope) botctx.Caller {
		return door(func(context.Context, string, []byte) ([]byte, error) {
			next := all[0]
			all = all[1:]
			if code, is := strings.CutPrefix(next, "!"); is {
				return nil, boterr.New(boterr.Code(code), "memberId", "as it is")
			}
			return []byte(next), nil
		})
	}
}

func TestCheck_WhatMayDiffer(t *testing.T) {
	t.Parallel()
	call := func(n string, what string) string {
		return `{"n":` + n + `,"at":1000,"scope":{},"op":"getMember","params":{},` + what + `}`
	}
	for _, c := range []struct {
		name          string
		first, second string
		answers       []string
		want          string
	}{
		{"ids", `"result":{"_id":"a","n":1}`, `"result":{"_id":"a","memberId":"b"}`, []string{`{"_id":"x","n":1}`, `{"memberId":"y","_id":"x"}`}, ""},
		{"an id that is another later", `"result":{"_id":"a"}`, `"result":{"_id":"a"}`, []string{`{"_id":"x"}`, `{"_id":"y"}`}, "line 3: getMember result._id"},
		{"two ids that are one", `"result":{"_id":"a"}`, `"result":{"_id":"b"}`, []string{`{"_id":"x"}`, `{"_id":"x"}`}, "line 3: getMember result._id"},
		{"ids that change places", `"result":{"_id":"a"}`, `"result":{"_id":"b"}`, []string{`{"_id":"b"}`, `{"_id":"a"}`}, ""},
		{"an id elsewhere", `"result":{"_id":"a"}`, `"result":{"note":"a"}`, []string{`{"_id":"x"}`, `{"note":"x"}`}, ""},
		{"a text that was an id", `"result":{"_id":"a"}`, `"result":{"note":"a"}`, []string{`{"_id":"x"}`, `{"note":"a"}`}, ""},
		{"an id that was none", `"result":{"_id":""}`, `"result":null`, []string{`{"_id":"x"}`, `null`}, `result._id: "" was recorded, got "x"`},
		{"a long text", `"result":"` + strings.Repeat("a", 300) + `"`, `"result":null`, []string{`"b"`, `null`}, strings.Repeat("a", 199) + `… was recorded`},
		{"a text", `"result":{"name":"a"}`, `"result":null`, []string{`{"name":"b"}`, `null`}, `result.name: "a" was recorded, got "b"`},
		{"times", `"result":{"createdAt":1000}`, `"result":{"nextRunAt":9000}`, []string{`{"createdAt":52000}`, `{"nextRunAt":59000}`}, ""},
		{"a time that is far off", `"result":{"createdAt":1000}`, `"result":null`, []string{`{"createdAt":52001}`, `null`}, "result.createdAt: 1000 was recorded"},
		{"no time", `"result":{"n":1000}`, `"result":null`, []string{`{"n":51000}`, `null`}, "result.n: 1000"},
		{"what is redacted", `"result":{"n":"[redacted]"}`, `"result":null`, []string{`{"n":"hush"}`, `null`}, ""},
		{
			"what is not there", `"result":{"a":1}`, `"result":[1]`,
			[]string{`{"b":1}`, `[1,2]`},
			"result.b: none was recorded, got 1\nline 2: getMember result.a: 1 was recorded, got none\nline 3: getMember result[1]: none",
		},
		{"messages of errors", `"error":{"code":"NotFound","field":"memberId","message":"was"}`, `"result":1`, []string{"!NotFound", "1.0"}, ""},
		{
			"codes of errors", `"error":{"code":"Conflict","field":"memberId"}`, `"error":{"code":"NotFound","field":"x"}`,
			[]string{"!NotFound", "!NotFound"},
			"error.code: \"Conflict\" was recorded, got \"NotFound\"\nline 3: getMember error.field: \"x\"",
		},
		{
			"an error that is none", `"error":{"code":"Conflict"}`, `"result":1`,
			[]string{"1", "!NotFound"},
			"line 2: getMember error: \"Conflict\" was recorded, got none\nline 3: getMember error: none was recorded, got",
		},
		{"no JSON", `"result":1`, `"result":1`, []string{"{", "1"}, "line 2: getMember result: 1 was recorded"},
	} {
		found, err := read(t, lines(call("1", c.first), call("2", c.second))).Check(t.Context(), recording.Check{
			Door: answers(c.answers...), Now: func() time.Time { return time.UnixMilli(51000) },
		})
		require.NoError(t, err)
		if c.want == "" {
			require.Empty(t, found.String(), c.name)
		} else {
			require.Contains(t, found.String(), c.want, c.name)
		}
	}
}

func TestCheck_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newShop(t, fakes.Start(), 0)
	_, err := read(t, recordedWork(t, s)).Check(ctx, recording.Check{Door: answers()})
	require.ErrorIs(t, err, context.Canceled)
}

type door func(ctx context.Context, name string, args []byte) ([]byte, error)

func (d door) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	return d(ctx, name, args)
}

func TestReplay_AnswersAsItWas(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	text := recordedWork(t, s)
	replay := read(t, text).Replay()
	work(t, replay.Operations(s.ada.Scope()), fakes.Start, s.ada.ID())
	require.Empty(t, replay.Left())
}

// Equal calls get their answers in order; others may come between them or before them.
func TestReplay_InOrderOfEachCall(t *testing.T) {
	t.Parallel()
	r := read(t, lines(
		`{"n":1,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1,"y":2}},"result":1}`,
		`{"n":2,"at":0,"scope":{},"op":"fetchDataFromDataSource","params":{"dataSourceId":"b"},"result":null}`,
		`{"n":3,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"b"},"result":5}`,
		`{"n":4,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1,"y":2}},"result":2}`,
		`{"n":5,"at":0,"scope":{"member":"m"},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1,"y":2}},"result":9}`,
	))
	replay := r.Replay()
	call := func(member, args string) string {
		result, err := replay.Caller(botctx.Scope{Member: member}).Call(t.Context(), "countDataSource", json.RawMessage(args))
		if err != nil {
			return err.Error()
		}
		return string(result)
	}
	require.Equal(t, "5", call("", `{"dataSourceId":"b"}`))
	require.Equal(t, "1", call("", `{"filter":{"y":2,"x":1.0},"dataSourceId":"a"}`))
	require.Equal(t, "9", call("m", `{"dataSourceId":"a","filter":{"x":1,"y":2}}`))
	require.Len(t, replay.Left(), 2)
	require.Equal(t, "2", call("", `{"dataSourceId":"a","filter":{"x":1,"y":2}}`))
	require.Contains(t, call("", `{"dataSourceId":"a","filter":{"x":1,"y":2}}`),
		"internal: this call was recorded 2 times in calls.jsonl, and is made once more")
}

func TestReplay_NamesTheNearestCall(t *testing.T) {
	t.Parallel()
	r := read(t, lines(
		`{"n":1,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1}},"result":1}`,
		`{"n":2,"at":0,"scope":{"app":"app-1","member":"m"},"op":"countDataSource","params":{"dataSourceId":"b"},"result":5}`,
	))
	for _, c := range []struct{ op, args, want string }{
		{"countDataSource", `{"dataSourceId":"a","filter":{"x":2}}`, "the nearest is that of line 2, which has filter.x 1 in the place of 2"},
		{"countDataSource", `{"dataSourceId":"b"}`, "the nearest is that of line 3, for app-1/m in the place of "},
		{"countDataSource", `{"dataSourceId":"a"}`, `line 2, which has filter.x 1 in the place of none`},
		{"getMember", `{}`, "no call of this operation was recorded in calls.jsonl"},
		{"countDataSources", `{}`, "there is countDataSource"},
		{"countDataSource", `{`, "is not valid JSON"},
	} {
		_, err := r.Replay().Caller(botctx.Scope{}).Call(t.Context(), c.op, json.RawMessage(c.args))
		require.ErrorContains(t, err, c.want, c.args)
	}
	_, err := r.Replay().Caller(botctx.Scope{}).Call(t.Context(), "getMember", nil)
	require.ErrorIs(t, err, boterr.Internal)
}

func lines(calls ...string) string { return "{\"recording\":1}\n" + strings.Join(calls, "\n") + "\n" }

func TestRead_NamesTheLine(t *testing.T) {
	t.Parallel()
	const first = `{"n":1,"at":0,"scope":{},"op":"getMember","params":{},"result":null}`
	for text, want := range map[string]string{
		"":                        "calls.jsonl is empty: a recording begins with the line {\"recording\":1}",
		"\n\n":                    "calls.jsonl is empty",
		first:                     "calls.jsonl:1: this is not a recording of this version",
		`{"recording":2}`:         "calls.jsonl:1: this is not a recording of this version",
		lines(first) + first[:30]: "calls.jsonl:3: this is not valid JSON",
		lines(first) + first[:31]: "the recording may be cut off here",
		lines("", first, "[]"):    "calls.jsonl:4: this is not a JSON object",
		lines(first, first):       "calls.jsonl:3: this is call 1, and the previous one is 1",
		lines(strings.Replace(first, `"n":1`, `"n":2`, 1)):               "calls.jsonl:2: this is call 2, and the previous one is 0: lines are missing",
		lines(strings.Replace(first, "getMember", "getMembr", 1)):        "calls.jsonl:2: op: there is no operation \"getMembr\": did you mean getMember?",
		lines(strings.Replace(first, `"result"`, `"reslt"`, 1)):          "there is no field \"reslt\" in a call",
		lines(strings.Replace(first, `,"result":null`, ``, 1)):           "the outcome of the call is missing",
		lines(strings.Replace(first, `"params":{},`, ``, 1)):             "params are missing",
		lines(strings.Replace(first, `"params":{}`, `"params":[]`, 1)):   "calls.jsonl:2: ",
		lines(strings.Replace(first, `"at":0`, `"at":"soon"`, 1)):        "calls.jsonl:2: ",
		lines(strings.Replace(first, `"result":null`, `"error":{}`, 1)):  "has no code: give one of [InvalidArgument",
		lines(strings.Replace(first, `"result":null`, `"error":"x"`, 1)): "has no code",
	} {
		_, err := recording.Read("calls.jsonl", strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := recording.Read("calls.jsonl", iotest.ErrReader(errors.New("no disk")))
	require.ErrorContains(t, err, "no disk")
}

// A send that reaches some recipients has a result and an error, with which it is recorded and replayed.
func TestRecorder_PartialSend(t *testing.T) {
	t.Parallel()
	var intercepted, called bytes.Buffer
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Interceptors = []botctx.Interceptor{recording.New(&intercepted, c.Now).Intercept}
	}))
	ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
	p.Inject(fakes.Refuses(bob, boterr.FailedPrecondition))
	params := send.SendResponseParams{MemberID: document.OneOrMany[string]{ada.ID(), bob.ID()}, Response: send.Text("hi")}
	given, failed := recording.New(&called, p.Now).Operations(bare{ada.Context()}, ada.Scope()).SendResponse(t.Context(), params)
	require.ErrorIs(t, failed, boterr.Unavailable)
	for _, text := range []string{intercepted.String(), called.String()} {
		replayed, err := read(t, text).Replay().Operations(ada.Scope()).SendResponse(t.Context(), params)
		require.EqualError(t, err, failed.Error())
		require.Equal(t, fmt.Sprint(given), fmt.Sprint(replayed))
	}
}

// The recording hides a credential that the caller of bare operations gets.
func TestRecorder_CredentialForItsCaller(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	ada := p.AddMember(member.Member{Channel: "page"})
	var out bytes.Buffer
	bot := recording.New(&out, p.Now).Operations(bare{ada.Context()}, ada.Scope())
	stored, err := bot.AlphaCreateBroadcast(t.Context(), send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
	require.NoError(t, err)
	require.Equal(t, "token-of-page", stored.Result[0].AccessToken.Reveal())
	require.NotContains(t, out.String(), "token-of-page")
}

func TestRead_WhatTheRecorderWritesOfCallsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{"getMembr": `{}`, "": `{}`, "getMember": `[1]`, "getAgenda": `5`, "newAgenda": `null`} {
		p := fakes.New(fakes.For(t))
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		var out bytes.Buffer
		recorded := recording.New(&out, p.Now).Caller(p.Operations(ada.Scope()), ada.Scope())
		_, failed := recorded.Call(t.Context(), name, []byte(args))
		require.ErrorIs(t, failed, boterr.InvalidArgument, name)

		_, again := read(t, out.String()).Replay().Caller(ada.Scope()).Call(t.Context(), name, []byte(args))
		require.ErrorIs(t, again, boterr.InvalidArgument, name)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(lines(`{"n":1,"at":0,"scope":{"app":"a"},"op":"getMember","params":{"a":[1]},"error":{"code":"NotFound","message":"x"}}`))
	f.Fuzz(func(t *testing.T, text string) {
		read, err := recording.Read("fuzzed.jsonl", strings.NewReader(text))
		if err != nil {
			require.Contains(t, err.Error(), "fuzzed.jsonl")
			return
		}
		for _, call := range read.Calls {
			args, err := json.Marshal(call.Params)
			require.NoError(t, err)
			_, err = read.Replay().Caller(call.Scope).Call(t.Context(), string(call.Op), args)
			if err != nil {
				require.NotNil(t, call.Err, "%v", err)
			}
		}
	})
}
