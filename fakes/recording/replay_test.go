package recording_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/recording"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// door is a function that is a door.
type door func(ctx context.Context, name string, args []byte) ([]byte, error)

// Call implements botctx.Caller.
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

// Of calls that are the same, the answers come in their order; others may stand between them or come
// before them.
func TestReplay_InOrderOfEachCall(t *testing.T) {
	t.Parallel()
	r := read(t, lines(
		`{"n":1,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1,"y":2}},"result":1}`,
		`{"n":2,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"b"},"result":5}`,
		`{"n":3,"at":0,"scope":{},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1,"y":2}},"result":2}`,
		`{"n":4,"at":0,"scope":{"member":"m"},"op":"countDataSource","params":{"dataSourceId":"a","filter":{"x":1,"y":2}},"result":9}`,
	))
	replay := r.Replay()
	call := func(member, args string) string {
		result, err := replay.Caller(record.Scope{Member: member}).Call(t.Context(), "countDataSource", json.RawMessage(args))
		if err != nil {
			return err.Error()
		}
		return string(result)
	}
	require.Equal(t, "5", call("", `{"dataSourceId":"b"}`))
	require.Equal(t, "1", call("", `{"filter":{"y":2,"x":1.0},"dataSourceId":"a"}`))
	require.Equal(t, "9", call("m", `{"dataSourceId":"a","filter":{"x":1,"y":2}}`))
	require.Len(t, replay.Left(), 1)
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
		{"countDataSource", `{"dataSourceId":"a"}`, `line 2, which has filter {"x":1} in the place of nothing`},
		{"getMember", `{}`, "no call of this operation was recorded in calls.jsonl"},
		{"countDataSources", `{}`, "there is countDataSource"},
		{"countDataSource", `{`, "is no JSON"},
	} {
		_, err := r.Replay().Caller(record.Scope{}).Call(t.Context(), c.op, json.RawMessage(c.args))
		require.ErrorContains(t, err, c.want, c.args)
	}
	_, err := r.Replay().Caller(record.Scope{}).Call(t.Context(), "getMember", nil)
	require.ErrorIs(t, err, boterr.Internal)
}

// lines returns a recording of lines.
func lines(calls ...string) string { return "{\"recording\":1}\n" + strings.Join(calls, "\n") + "\n" }

func TestRead_NamesTheLine(t *testing.T) {
	t.Parallel()
	const first = `{"n":1,"at":0,"scope":{},"op":"getMember","params":{},"result":null}`
	for text, want := range map[string]string{
		"":                        "calls.jsonl is empty: a recording begins with the line {\"recording\":1}",
		"\n\n":                    "calls.jsonl is empty",
		first:                     "calls.jsonl:1: this is no recording of this version",
		`{"recording":2}`:         "calls.jsonl:1: this is no recording of this version",
		lines(first) + first[:30]: "calls.jsonl:3: this is no JSON",
		lines(first) + first[:31]: "the recording may be cut off here",
		lines("", first, "[]"):    "calls.jsonl:4: this is no JSON object",
		lines(first, first):       "calls.jsonl:3: this is call 1, and the one before it is 1",
		lines(strings.Replace(first, `"n":1`, `"n":2`, 1)):               "calls.jsonl:2: this is call 2, and the one before it is 0: lines are missing",
		lines(strings.Replace(first, "getMember", "getMembr", 1)):        "calls.jsonl:2: op: there is no operation \"getMembr\": perhaps getMember is meant",
		lines(strings.Replace(first, `"result"`, `"reslt"`, 1)):          "there is no field \"reslt\" in a call",
		lines(strings.Replace(first, `,"result":null`, ``, 1)):           "what came of the call is missing",
		lines(strings.Replace(first, `"params":{},`, ``, 1)):             "params are missing",
		lines(strings.Replace(first, `"params":{}`, `"params":[]`, 1)):   "calls.jsonl:2: ",
		lines(strings.Replace(first, `"at":0`, `"at":"soon"`, 1)):        "calls.jsonl:2: ",
		lines(strings.Replace(first, `"result":null`, `"error":{}`, 1)):  "has no code: there are [InvalidArgument",
		lines(strings.Replace(first, `"result":null`, `"error":"x"`, 1)): "has no code",
	} {
		_, err := recording.Read("calls.jsonl", strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
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
			_, err = read.Replay().Caller(call.Scope.Record()).Call(t.Context(), string(call.Op), args)
			if err != nil {
				require.NotNil(t, call.Err, "%v", err)
			}
		}
	})
}
