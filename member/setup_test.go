package member_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// operation is an operation of the service.
type operation[P, R any] = func(context.Context, P) (R, error)

// apps are two apps in one store, with a clock that stands still and ids that count.
// Mine has the channels c1, which is the context's own, and c2; theirs has c3.
type apps struct {
	mine, theirs *member.Service

	store *memstore.Store
	now   atomic.Int64
	ids   atomic.Int64
}

// newApps returns two apps. The members, given as JSON, are in mine.
func newApps(t *testing.T, members ...string) *apps {
	t.Helper()
	a := &apps{store: memstore.New()}
	a.now.Store(1000)
	require.NoError(t, member.EnsureIndexes(t.Context(), a.store))
	a.mine = a.in(t, record.Scope{App: "mine", Channel: "c1"}, "c1", "c2")
	a.theirs = a.in(t, record.Scope{App: "theirs", Channel: "c3"}, "c3")
	for _, m := range members {
		insert(t, a.mine, m)
	}
	return a
}

// in returns the members of a scope, and makes channels in it.
func (a *apps) in(t *testing.T, scope record.Scope, in ...string) *member.Service {
	t.Helper()
	env := record.Env{
		Store:   a.store,
		Now:     func() time.Time { return time.UnixMilli(a.now.Load()) },
		NewID:   func() string { return "id" + strconv.FormatInt(a.ids.Add(1), 10) },
		NewEtag: func() string { return "etag" + strconv.FormatInt(a.ids.Add(1), 10) },
	}
	known := channels.New(env, scope)
	for _, id := range in {
		_, err := known.Save(t.Context(), &channel.Channel{ID: id, Type: channel.Webchat})
		require.NoError(t, err)
	}
	return member.New(env, scope, known)
}

// advance moves the clock by a second.
func (a *apps) advance() { a.now.Add(1000) }

// insert makes a member from JSON.
func insert(t *testing.T, s *member.Service, text string) *member.Member {
	t.Helper()
	var m member.Member
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	made, err := s.Insert(t.Context(), m)
	require.NoError(t, err)
	return made
}

// load returns a member.
func load(t *testing.T, s *member.Service, id string) *member.Member {
	t.Helper()
	m, err := s.GetMember(t.Context(), member.GetMemberParams{MemberID: id})
	require.NoError(t, err)
	return m
}

// shown returns a member as JSON.
func shown(t *testing.T, m *member.Member) string {
	t.Helper()
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return string(text)
}

// object reads an object from JSON.
func object(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return o
}

// stored returns all members of all apps as text.
func (a *apps) stored(t *testing.T) string {
	t.Helper()
	all, err := a.store.Collection("members").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// call calls an operation as JSON does, and returns the JSON of its result.
func call[P, R any](t *testing.T, run operation[P, R], params string) (document.Object, error) {
	t.Helper()
	var p P
	if err := document.DecodeJSON([]byte(params), &p); err != nil {
		return document.Object{}, err
	}
	result, err := run(t.Context(), p)
	if err != nil {
		require.Zero(t, result, "beside an error the result is the zero value")
		return document.Object{}, err
	}
	text, err := document.EncodeJSON(result)
	require.NoError(t, err)
	return object(t, string(text)), nil
}

// must calls an operation as JSON does, and returns the JSON of its result.
func must[P, R any](t *testing.T, run operation[P, R], params string) document.Object {
	t.Helper()
	result, err := call(t, run, params)
	require.NoError(t, err, params)
	return result
}

// requireRefused calls an operation with parameters that are wrong, each with the
// field at fault, and compares the error and all that is stored.
func requireRefused[P, R any](t *testing.T, of func(*member.Service) operation[P, R], fields map[string]string) {
	t.Helper()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada", "meta": {"n": 1, "text": "x"}}`, `{"_id": "m2", "channel": "c2"}`)
	a.advance()
	before := a.stored(t)
	for params, field := range fields {
		_, err := call(t, of(a.mine), params)
		require.ErrorIs(t, err, boterr.InvalidArgument, params)
		requireField(t, err, field, params)
		require.Equal(t, before, a.stored(t), "%s changes nothing", params)
	}
}

// requireField asserts the field of an error.
func requireField(t *testing.T, err error, field string, about ...any) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, e.Field, about...)
}
