package members_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

type operation[P, R any] = func(context.Context, P) (R, error)

// apps holds the services of two apps that share a store. Their clock stands still until advance is
// called, and new ids are id1, id2 and so on. mine has the channels c1, its scope's own, and c2;
// theirs has c3.
type apps struct {
	mine, theirs *members.Service

	store *memstore.Store
	now   atomic.Int64
	ids   atomic.Int64
}

// newApps returns two apps. The members, given as JSON, are in the app mine.
func newApps(t *testing.T, texts ...string) *apps {
	t.Helper()
	a := &apps{store: memstore.New()}
	a.now.Store(1000)
	require.NoError(t, members.EnsureIndexes(t.Context(), a.store))
	a.mine = a.in(t, record.Scope{App: "mine", Channel: "c1"}, "c1", "c2")
	a.theirs = a.in(t, record.Scope{App: "theirs", Channel: "c3"}, "c3")
	for _, m := range texts {
		insert(t, a.mine, m)
	}
	return a
}

// in returns the service of a scope, after adding the given channels to its app.
func (a *apps) in(t *testing.T, scope record.Scope, in ...string) *members.Service {
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
	return members.New(env, scope, known)
}

// meanwhile returns the members of mine on a store that calls the function happens before its nth call, which fails if
// happens fails.
func (a *apps) meanwhile(nth int64, happens func() error) *members.Service {
	var calls atomic.Int64
	shared := store.Wrap(a.store, func(ctx context.Context, _ store.Call) (_ context.Context, _ func(int, error) error, err error) {
		if calls.Add(1) == nth {
			err = happens()
		}
		return ctx, nil, err
	})
	return members.New(record.Env{Store: shared}, record.Scope{App: "mine", Channel: "c1"}, nil)
}

func (a *apps) advance() { a.now.Add(1000) }

// insert adds a member given as JSON.
func insert(t *testing.T, s *members.Service, text string) *member.Member {
	t.Helper()
	var m member.Member
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	made, err := s.Insert(t.Context(), m)
	require.NoError(t, err)
	return made
}

func load(t *testing.T, s *members.Service, id string) *member.Member {
	t.Helper()
	m, err := s.GetMember(t.Context(), member.GetParams{MemberID: id})
	require.NoError(t, err)
	return m
}

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
	text, err := document.EncodeJSON(result)
	require.NoError(t, err)
	return object(t, string(text)), nil
}

// must is call for an operation that must succeed.
func must[P, R any](t *testing.T, run operation[P, R], params string) document.Object {
	t.Helper()
	result, err := call(t, run, params)
	require.NoError(t, err, params)
	return result
}

// requireRefused calls an operation once for each key of fields, which is a JSON object of wrong
// parameters. It requires InvalidArgument for the field, and that nothing is stored.
func requireRefused[P, R any](t *testing.T, of func(*members.Service) operation[P, R], fields map[string]string) {
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

func requireField(t *testing.T, err error, field string, about ...any) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, e.Field, about...)
}

func idsOf(t *testing.T, s *members.Service, chosen member.Selection) []string {
	t.Helper()
	ids := []string{}
	for m, err := range s.All(t.Context(), chosen) {
		require.NoError(t, err)
		ids = append(ids, m.ID)
	}
	return ids
}

func TestAll(t *testing.T) {
	t.Parallel()
	a := newApps(t,
		`{"_id": "m2", "channel": "c2", "tags": ["vip"]}`,
		`{"_id": "m1", "channel": "c1", "tags": ["new", "vip"], "firstName": "Ada"}`,
		`{"_id": "m4", "channel": "c1", "tags": [{"name": "vip"}]}`,
		`{"_id": "m3", "channel": "c1", "tags": ["vip"]}`,
	)
	insert(t, a.theirs, `{"_id": "m0", "channel": "c3", "tags": ["vip"]}`)
	for name, c := range map[string]struct {
		chosen member.Selection
		want   []string
	}{
		"all of the app":         {member.Selection{}, []string{"m1", "m2", "m3", "m4"}},
		"of a channel":           {member.Selection{Channel: "c1"}, []string{"m1", "m3", "m4"}},
		"with a tag":             {member.Selection{Tag: "vip"}, []string{"m1", "m2", "m3"}},
		"of a channel, by tag":   {member.Selection{Channel: "c1", Tag: "vip"}, []string{"m1", "m3"}},
		"by a tag's field":       {member.Selection{Filter: document.O("tags.name", "vip")}, []string{"m4"}},
		"by a filter":            {member.Selection{Channel: "c1", Filter: document.O("channel", "c2")}, []string{}},
		"the first page":         {member.Selection{Tag: "vip", Limit: 2}, []string{"m1", "m2"}},
		"the next page":          {member.Selection{Tag: "vip", Limit: 2, After: "m2"}, []string{"m3"}},
		"a tag that nobody has":  {member.Selection{Tag: "v"}, []string{}},
		"a channel that is none": {member.Selection{Channel: "c3"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, idsOf(t, a.mine, c.chosen))
		})
	}
}

func TestAll_ManyPages(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	want := []string{}
	for i := range 250 {
		want = append(want, fmt.Sprintf("m%03d", i))
		insert(t, a.mine, fmt.Sprintf(`{"_id": "m%03d"}`, i))
	}
	require.Equal(t, want, idsOf(t, a.mine, member.Selection{}))
	require.Equal(t, want[:150], idsOf(t, a.mine, member.Selection{Limit: 150}))
	require.Equal(t, want[100:], idsOf(t, a.mine, member.Selection{After: "m099"}))
	seen, both := 0, a.mine.All(t.Context(), member.Selection{Limit: 2})
	for range 2 {
		for m, err := range both {
			require.NoError(t, err)
			require.Contains(t, want[:2], m.ID)
			seen++
		}
	}
	require.Equal(t, 4, seen, "a list can be read twice")
	for m, err := range a.mine.All(t.Context(), member.Selection{}) {
		require.NoError(t, err)
		require.Equal(t, "m000", m.ID)
		break
	}
}

func TestAll_Errors(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	for field, chosen := range map[string]member.Selection{
		"limit: must not be negative": {Limit: -1},
		"filter.n.$near2: ":           {Filter: document.O("n", document.O("$near2", 1))},
	} {
		seen := 0
		for m, err := range a.mine.All(t.Context(), chosen) {
			seen++
			require.Nil(t, m)
			require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
			require.ErrorContains(t, err, field)
		}
		require.Equal(t, 1, seen)
	}
}

func TestAll_Unreadable(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`, `{"_id": "m3"}`)
	bad := document.O("_id", "m2", "app", "mine", "tags", "vip")
	require.NoError(t, a.store.Collection("members").Insert(t.Context(), bad))
	var ids []string
	for m, err := range a.mine.All(t.Context(), member.Selection{}) {
		if err != nil {
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "the stored member m2 cannot be read")
			continue
		}
		ids = append(ids, m.ID)
	}
	require.Equal(t, []string{"m1", "m3"}, ids)
}

func TestAll_EndsAfterAPageOfNumbers(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	for i := range 100 {
		require.NoError(t, a.store.Collection("members").Insert(t.Context(), document.O("_id", i, "app", "mine", "externalId", i)))
	}
	var errs []error
	for _, err := range a.mine.All(t.Context(), member.Selection{}) {
		errs = append(errs, err)
	}
	require.Len(t, errs, 101)
	require.ErrorContains(t, errs[100], "no page can begin after the member 99")
}

func TestPatchMembers_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	patch := member.PatchParams{Filter: document.O("gender", "f"), Patch: document.O("lastName", "Low")}
	patched, err := a.meanwhile(2, func() error {
		insert(t, a.mine, `{"_id": "m1", "gender": "f"}`)
		return nil
	}).PatchMembers(t.Context(), patch)
	require.NoError(t, err)
	require.Nil(t, patched.Result)
	require.Empty(t, load(t, a.mine, "m1").LastName, "it would be missing from the result")
	patched, err = a.meanwhile(3, func() error {
		_, err := members.Erase(t.Context(), record.Env{Store: a.store}, "mine", "m1")
		return err
	}).PatchMembers(t.Context(), patch)
	require.NoError(t, err)
	require.Equal(t, "m1", patched.Result.ID)
}

func TestErase_OnlyOne(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "ada"}`, `{"_id": "bob"}`)
	insert(t, a.theirs, `{"_id": "tom"}`)
	env := record.Env{Store: a.store}
	for _, erased := range []struct {
		id    string
		isOne bool
	}{{"ada", true}, {"ada", false}, {"tom", false}} {
		isOne, err := members.Erase(t.Context(), env, "mine", erased.id)
		require.NoError(t, err)
		require.Equal(t, erased.isOne, isOne, erased.id)
	}
	_, err := members.Get(t.Context(), a.mine, "ada")
	require.ErrorIs(t, err, boterr.NotFound)
	load(t, a.mine, "bob")
	load(t, a.theirs, "tom")
	_, err = members.Erase(t.Context(), env, "mine", "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = members.Erase(t.Context(), env, "", "ada")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestKnownID(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "externalId": "x1"}`)
	mine := record.Scope{App: "mine", Channel: "c1"}
	for externalID, want := range map[string]string{"x1": "m1", "x2": "", "": "", "x1\xff": ""} {
		id, err := members.KnownID(t.Context(), record.Env{Store: a.store}, mine, externalID)
		require.NoError(t, err)
		require.Equal(t, want, id, "%q", externalID)
	}
	for _, elsewhere := range []record.Scope{{App: "mine", Channel: "c2"}, {App: "theirs", Channel: "c1"}} {
		id, err := members.KnownID(t.Context(), record.Env{Store: a.store}, elsewhere, "x1")
		require.NoError(t, err)
		require.Empty(t, id)
	}
	require.NoError(t, a.store.Collection("members").Insert(t.Context(), document.O("_id", 5, "app", "mine", "channel", "c1", "externalId", "x5")))
	_, err := members.KnownID(t.Context(), record.Env{Store: a.store}, mine, "x5")
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

func TestArrive_AtOnce(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	var made atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			arrival, err := a.mine.Arrive(t.Context(), member.Member{ExternalID: "x1"})
			if err == nil && arrival.New {
				made.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, int64(1), made.Load())
}

// The other process inserts the member while this one does.
func TestArrive_AnotherProcessIsFaster(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	arrival, err := a.meanwhile(1, func() error {
		insert(t, a.mine, `{"_id": "m1", "externalId": "x1"}`)
		return boterr.AlreadyExists
	}).Arrive(t.Context(), member.Member{ExternalID: "x1"})
	require.NoError(t, err)
	require.Equal(t, "m1", arrival.Member.ID)
	require.False(t, arrival.New)
}

func TestArrive_ExternalIDsOfOneChannel(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "externalId": "x1"}`, `{"_id": "m2", "externalId": "x1", "channel": "c2"}`)
	here, err := a.mine.Arrive(t.Context(), member.Member{ExternalID: "x1"})
	require.NoError(t, err)
	require.Equal(t, "m1", here.Member.ID)
	there, err := a.theirs.Arrive(t.Context(), member.Member{ExternalID: "x1"})
	require.NoError(t, err)
	require.True(t, there.New)
	whole := document.O("botMeta", document.O(), "meta", document.O(), "profile", document.O(), "tags", document.A())
	stored, err := a.theirs.List(t.Context(), record.Query{Filter: whole}, nil)
	require.NoError(t, err)
	require.Len(t, stored, 1, "objects are stored even if they are empty")

	_, err = a.mine.Insert(t.Context(), member.Member{ExternalID: "x1"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	must(t, a.mine.UpdateMember, `{"member": {"_id": "m1", "externalId": "x2"}}`)
	insert(t, a.mine, `{"externalId": "x1"}`)
	_, err = call(t, a.mine.UpdateMember, `{"member": {"_id": "m1", "externalId": "x1"}}`)
	require.ErrorContains(t, err, "another member of the channel has this externalId: give each member a different one")
}

func TestArrive_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	before := a.stored(t)
	_, err := a.mine.Arrive(t.Context(), member.Member{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "externalId")
	_, err = a.mine.Arrive(t.Context(), member.Member{ID: "m1", ExternalID: "x9"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	_, err = a.mine.Insert(t.Context(), member.Member{App: "theirs"})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "app")
	_, err = a.mine.Insert(t.Context(), member.Member{ID: "m1", ExternalID: "x9"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.ErrorContains(t, err, "give each member its own")
	_, err = a.mine.Insert(t.Context(), member.Member{Channel: "c3"})
	require.ErrorIs(t, err, boterr.NotFound)
	requireField(t, err, "channel")
	_, err = a.in(t, record.Scope{App: "mine"}).Insert(t.Context(), member.Member{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "channel")
	_, err = a.in(t, record.Scope{App: "mine"}).Arrive(t.Context(), member.Member{ExternalID: "x9"})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "channel")
	spoiled := member.Member{ExternalID: "x9", Meta: document.O("n", make(chan int))}
	_, arrived := a.mine.Arrive(t.Context(), spoiled)
	_, inserted := a.mine.Insert(t.Context(), spoiled)
	for _, err := range []error{arrived, inserted} {
		require.ErrorIs(t, err, boterr.InvalidArgument)
		requireField(t, err, "meta.n")
	}
	require.Equal(t, before, a.stored(t))
}

// lost is a store whose server goes away during every change. Its error wraps another error with a
// different code.
type lost struct{ store.Store }

func (s lost) Collection(name string) store.Collection {
	return lostCollection{s.Store.Collection(name)}
}

type lostCollection struct{ store.Collection }

func (lostCollection) FindAndModify(
	context.Context, *query.Filter, query.Change, store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return store.FindAndModifyResult{}, boterr.New(boterr.Unavailable, "", "the server is gone after: %w",
		boterr.Invalid("update", "does not fit"))
}

func TestCheckAndSaveMemberReferFrom_StoreFails(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id":"ada","externalId":"a"}`)
	members := members.New(record.Env{Store: lost{a.store}}, record.Scope{App: "mine", Channel: "c1"}, nil)
	_, err := members.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveReferFromParams{
		MemberID: "ada", ReferFrom: "c2",
	})
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err), "%v", err)
}

func TestMembers_StoreFails(t *testing.T) {
	t.Parallel()
	ctx, scope := t.Context(), record.Scope{App: "mine", Channel: "c1"}
	for name, run := range map[string]func(s *members.Service, env record.Env) (any, error){
		"arrive": func(s *members.Service, _ record.Env) (any, error) {
			return s.Arrive(ctx, member.Member{ExternalID: "x1"})
		},
		"insert": func(s *members.Service, _ record.Env) (any, error) {
			return s.Insert(ctx, member.Member{Channel: "c2"})
		},
		"list":  func(s *members.Service, _ record.Env) (any, error) { return s.List(ctx, record.Query{}, nil) },
		"known": func(_ *members.Service, env record.Env) (any, error) { return members.KnownID(ctx, env, scope, "ada") },
		"erase": func(_ *members.Service, env record.Env) (any, error) { return members.Erase(ctx, env, "mine", "ada") },
		"indexes": func(_ *members.Service, env record.Env) (any, error) {
			return nil, members.EnsureIndexes(ctx, env.Store)
		},
		"all": func(s *members.Service, _ record.Env) (one any, err error) {
			for m, failed := range s.All(ctx, member.Selection{}) {
				one, err = m, failed
			}
			return one, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sharedtest.EachFailure(t, func(failing func(store.Store) store.Store) error {
				env := record.Env{Store: failing(newApps(t, `{"_id": "ada"}`).store)}
				_, err := run(members.New(env, scope, channels.New(env, scope)), env)
				return err
			})
		})
	}
}
