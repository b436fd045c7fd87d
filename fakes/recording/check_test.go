package recording_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/recording"
	"github.com/botctx/go-sdk/internal/record"
)

// check compares a recording with a shop.
func check(t *testing.T, text string, s shop, recordedAda string) recording.Differences {
	t.Helper()
	found, err := read(t, text).Check(t.Context(), recording.Check{
		Door:    func(scope record.Scope) botctx.Caller { return s.Operations(scope) },
		IDs:     map[string]string{recordedAda: s.ada.ID()},
		Now:     s.Now,
		Advance: s.Advance,
	})
	require.NoError(t, err)
	return found
}

// Another platform has other ids and another clock, and answers alike.
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

func TestCheck_TellsWhereItDiffers(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	text := recordedWork(t, s)
	other := newShop(t, fakes.Start(), 0)
	other.AddData("orders", document.O("_id", "o-1", "left", 0, "odd", true))
	other.AddData("bills", document.O("of", "somebody"))
	require.Equal(t, strings.TrimLeft(`
line 2: findAndModifyDataFromDataSource result.value: {"_id":"o-1","createdAt":1767225600000,"updatedAt":1767225600000,"left":3} was recorded, and this answers null
line 8: countDataSource result: 1 was recorded, and this answers 2
`, "\n"), check(t, text, other, s.ada.ID()).String())
}

// A call at a later time is made when as much time has passed, and what falls due has run.
func TestCheck_LetsTimePass(t *testing.T) {
	t.Parallel()
	r := read(t, lines(
		`{"n":1,"at":5000,"scope":{"member":"m"},"op":"newAgenda","params":{"memberId":"m","nodeCompositeId":"reminder","nextRunAt":3605000},`+
			`"error":{"code":"Internal"}}`,
		`{"n":2,"at":3606000,"scope":{"member":"m"},"op":"countDataSource","params":{"dataSourceId":"orders"},"result":2}`,
	))
	other := newShop(t, fakes.Start(), 0)
	found, err := r.Check(t.Context(), recording.Check{
		Door: func(scope record.Scope) botctx.Caller { return other.Operations(scope) },
		IDs:  map[string]string{"m": other.ada.ID()}, Now: other.Now, Advance: other.Advance,
	})
	require.NoError(t, err)
	require.Equal(t, "line 2: newAgenda error: \"Internal\" was recorded, and this answers nothing\n", found.String())
	require.Equal(t, "Still yours.", other.ada.Last())
	require.Equal(t, fakes.Start().Add(3601*time.Second), other.Now())
}

// answers is a door that gives its answers one after the other.
func answers(all ...string) func(record.Scope) botctx.Caller {
	return func(record.Scope) botctx.Caller {
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
		{"a text", `"result":{"name":"a"}`, `"result":null`, []string{`{"name":"b"}`, `null`}, `result.name: "a" was recorded, and this answers "b"`},
		{"times", `"result":{"createdAt":1000}`, `"result":{"nextRunAt":9000}`, []string{`{"createdAt":51500}`, `{"nextRunAt":59000}`}, ""},
		{"a time that is far off", `"result":{"createdAt":1000}`, `"result":null`, []string{`{"createdAt":52001}`, `null`}, "result.createdAt: 1000 was recorded"},
		{"no time", `"result":{"n":1000}`, `"result":null`, []string{`{"n":51000}`, `null`}, "result.n: 1000"},
		{"what is redacted", `"result":{"n":"[redacted]"}`, `"result":null`, []string{`{"n":"hush"}`, `null`}, ""},
		{
			"what is not there", `"result":{"a":1}`, `"result":[1]`,
			[]string{`{"b":1}`, `[1,2]`},
			"result.a: 1 was recorded, and this answers nothing\nline 2: getMember result.b: nothing was recorded, and this answers 1\nline 3: getMember result[1]: nothing",
		},
		{"messages of errors", `"error":{"code":"NotFound","field":"memberId","message":"was"}`, `"result":1`, []string{"!NotFound", "1.0"}, ""},
		{
			"codes of errors", `"error":{"code":"Conflict","field":"memberId"}`, `"error":{"code":"NotFound","field":"x"}`,
			[]string{"!NotFound", "!NotFound"},
			"error.code: \"Conflict\" was recorded, and this answers \"NotFound\"\nline 3: getMember error.field: \"x\"",
		},
		{
			"an error that is none", `"error":{"code":"Conflict"}`, `"result":1`,
			[]string{"1", "!NotFound"},
			"line 2: getMember error: \"Conflict\" was recorded, and this answers nothing\nline 3: getMember error: nothing was recorded, and this answers",
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
