package agendas_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// noon is 2024-03-01 12:00 in UTC, a Friday: the time of the apps' clock at the start.
const noon = 1_709_294_400_000

const hour = 3_600_000

type operation[P, R any] = func(context.Context, P) (R, error)

// apps are two apps in one store, with a stopped clock and numbered ids. mine has the members ada (in the tree t1)
// and bob, theirs has tom.
type apps struct {
	mine, theirs *agendas.Service

	store store.Store
	now   atomic.Int64
	ids   atomic.Int64
}

func newApps(t *testing.T) *apps {
	t.Helper()
	return newAppsOver(t, memstore.New(), agendas.Ports{})
}

// newAppsOver returns two apps in a store, with defaults for missing ports.
func newAppsOver(tb testing.TB, store store.Store, ports agendas.Ports) *apps {
	tb.Helper()
	a := &apps{store: store}
	a.now.Store(noon)
	require.NoError(tb, agendas.EnsureIndexes(tb.Context(), a.store))
	a.mine = a.in("mine", ports, member.Member{ID: "ada", Channel: "c1", BotMeta: inTree("t1")}, member.Member{ID: "bob", Channel: "c1"})
	a.theirs = a.in("theirs", ports, member.Member{ID: "tom", Channel: "c2"})
	return a
}

func inTree(tree string) member.BotMeta { return member.BotMeta{Object: document.O("tree", tree)} }

func (a *apps) in(app string, ports agendas.Ports, has ...member.Member) *agendas.Service {
	ports.Members = members(has)
	return agendas.New(record.Env{
		Store: a.store,
		Now:   func() time.Time { return time.UnixMilli(a.now.Load()) },
		NewID: func() string { return "id" + strconv.FormatInt(a.ids.Add(1), 10) },
	}, record.Scope{App: app}, ports)
}

type members []member.Member

// GetMember implements members.Getter. Its error has no field.
func (all members) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	for _, m := range all {
		if m.ID == p.MemberID {
			return &m, nil
		}
	}
	return nil, boterr.New(boterr.NotFound, "", "there is no member %s here", p.MemberID)
}

// advance moves the clock forward by an hour.
func (a *apps) advance() { a.now.Add(hour) }

// change changes agendas directly in the store, like a scheduler.
func (a *apps) change(t *testing.T, filter, change document.Object) {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	update, err := query.CompileUpdate(change)
	require.NoError(t, err)
	result, err := a.store.Collection("agendas").Update(t.Context(), which, query.Change{Update: update}, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.NotZero(t, result.Matched)
}

// stored returns all agendas of both apps as text.
func (a *apps) stored(t *testing.T) string {
	t.Helper()
	all, err := a.store.Collection("agendas").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// inZone returns a host's function with the same time zone for all members.
func inZone(name string) agendas.Zone {
	return func(context.Context, *member.Member) (string, error) { return name, nil }
}

// records returns the stored agendas of a service that match a filter.
func records(t *testing.T, s *agendas.Service, filter ...any) []*agenda.Record {
	t.Helper()
	found, err := s.Find(t.Context(), record.Query{Filter: document.O(filter...)})
	require.NoError(t, err)
	return found
}

// only returns the only agenda of a service that matches a filter.
func only(t *testing.T, s *agendas.Service, filter ...any) *agenda.Record {
	t.Helper()
	found := records(t, s, filter...)
	require.Len(t, found, 1)
	return found[0]
}

func nodes(records []*agenda.Record) []string {
	names := []string{}
	for _, r := range records {
		names = append(names, r.NodeCompositeID)
	}
	return names
}

// call calls an operation with parameters in JSON and returns the result's JSON.
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
	text, err := json.Marshal(result)
	require.NoError(t, err)
	var o document.Object
	require.NoError(t, json.Unmarshal(text, &o))
	return o, nil
}

// must is call for an operation that must succeed.
func must[P, R any](t *testing.T, run operation[P, R], params string) document.Object {
	t.Helper()
	result, err := call(t, run, params)
	require.NoError(t, err, params)
	return result
}

// requireRefused requires an InvalidArgument error with the given field.
func requireRefused(t *testing.T, err error, field string, about ...any) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument, about...)
	requireField(t, err, field, about...)
}

func requireField(t *testing.T, err error, field string, about ...any) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, e.Field, about...)
}

// writing is a store in memory that calls before, unless it is nil, at each write with the name of the method, such as
// "insert". If before returns an error, the write fails.
type writing struct {
	store.Store

	before func(method string) error
}

func newWriting() *writing {
	w := &writing{}
	w.Store = store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if w.before == nil || !isWrite(call) {
			return ctx, nil, nil
		}
		return ctx, nil, w.before(call.Method)
	})
	return w
}

func isWrite(call store.Call) bool {
	return slices.Contains([]string{"insert", "update", "findAndModify", "delete"}, call.Method)
}

// once calls happens before the next write by one of the methods.
func (w *writing) once(happens func(), methods ...string) {
	w.before = func(method string) error {
		if slices.Contains(methods, method) {
			w.before = nil
			happens()
		}
		return nil
	}
}
