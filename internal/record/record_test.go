package record_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// apps are the records of two apps in one store, with a stopped clock and numbered ids.
type apps struct {
	mine, theirs *record.Collection

	now time.Time
	ids int
}

func newApps() *apps {
	a := &apps{now: time.UnixMilli(1000)}
	env := record.Env{
		Store:   memstore.New(),
		Now:     func() time.Time { return a.now },
		NewID:   a.next("id"),
		NewEtag: a.next("etag"),
	}
	things := record.Open(env, &record.Schema{
		Name:       "thing",
		Collection: "things",
		Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
		Fixed:      []string{"owner"},
	})
	a.mine, a.theirs = things.Where(record.FieldApp, "mine"), things.Where(record.FieldApp, "theirs")
	return a
}

// next returns a function that returns numbered ids with a prefix.
func (a *apps) next(prefix string) func() string {
	return func() string {
		a.ids++
		return prefix + strconv.Itoa(a.ids)
	}
}

func insert(t *testing.T, things *record.Collection, pairs ...any) document.Object {
	t.Helper()
	made, err := things.Insert(t.Context(), document.O(pairs...))
	require.NoError(t, err)
	return made
}

func TestFindEqual_FindsWhatItsQueryDocumentFinds(t *testing.T) {
	t.Parallel()
	a := newApps()
	insert(t, a.mine, "name", "x", "active", true)
	insert(t, a.mine, "name", "x", "active", false)
	insert(t, a.mine, "name", "\uFFFD", "active", true, "count", 7)
	insert(t, a.theirs, "name", "x", "active", true)
	for name, fields := range map[string][]query.FieldValue{
		"none":                     nil,
		"a text":                   {{Name: "name", Value: "x"}},
		"a text and a truth value": {{Name: "name", Value: "x"}, {Name: "active", Value: true}},
		"a text that is not valid": {{Name: "name", Value: "\xff"}},
		"a number":                 {{Name: "count", Value: 7}},
	} {
		filter := document.O()
		for _, field := range fields {
			filter = filter.With(field.Name, field.Value)
		}
		want, err := a.mine.Find(t.Context(), record.Query{Filter: filter})
		require.NoError(t, err, name)
		got, err := a.mine.FindEqual(t.Context(), fields...)
		require.NoError(t, err, name)
		require.NotEmpty(t, want, name)
		require.Equal(t, want, got, name)
	}
	_, err := a.mine.FindEqual(t.Context(), query.FieldValue{Name: "name", Value: strings.Repeat("x", document.MaxSize)})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

// requireInvalid asserts the code and the field of an error.
func requireInvalid(t *testing.T, err error, field string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, field)
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, e.Field)
}

func TestInsert_CompletesARecord(t *testing.T) {
	t.Parallel()
	a := newApps()
	made := insert(t, a.mine, "n", 1, "createdAt", 5, "_version", 9)
	require.JSONEq(t, `{"_id": "id1", "app": "mine", "createdAt": 1000, "updatedAt": 1000, "_version": 1, "etag": "etag2", "n": 1}`, made.String())
	found, err := a.mine.Get(t.Context(), "id1")
	require.NoError(t, err)
	require.Equal(t, made.String(), found.String())
	given := insert(t, a.mine, "_id", 7, "app", "mine")
	require.Equal(t, 7, document.Get(given, "_id", 0))
}

func TestInsert_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps()
	insert(t, a.theirs, "_id", "one")
	_, err := a.mine.Insert(t.Context(), document.O("app", "theirs"))
	requireInvalid(t, err, "app")
	_, err = a.mine.Insert(t.Context(), document.O("n", make(chan int)))
	requireInvalid(t, err, "n")
	_, err = a.mine.Insert(t.Context(), document.O("_id", "one"))
	require.ErrorIs(t, err, boterr.AlreadyExists)
	requireField(t, err, "_id")
}

func TestCollection_AnotherApp(t *testing.T) {
	t.Parallel()
	a := newApps()
	insert(t, a.theirs, "_id", "one", "n", 1, "location", document.A(0, 0))
	for _, filter := range []document.Object{
		{},
		document.O(),
		document.O("app", "theirs"),
		document.O("app", document.O("$exists", true)),
		document.O("$or", document.A(document.O("app", "theirs"), document.O("_id", "one"))),
		document.O("$nor", document.A(document.O("app", "mine"))),
		document.O("app", document.O("$not", document.O("$eq", "mine"))),
	} {
		ctx := t.Context()
		found, err := a.mine.Find(ctx, record.Query{Filter: filter})
		require.NoError(t, err)
		require.Empty(t, found)
		count, err := a.mine.Count(ctx, filter)
		require.NoError(t, err)
		require.Zero(t, count)
		values, err := a.mine.Distinct(ctx, "n", filter)
		require.NoError(t, err)
		require.Empty(t, values)
		near, err := a.mine.GeoNear(ctx, document.O("near", document.A(0, 0), "key", "location", "query", filter.With("n", 1)))
		require.NoError(t, err)
		require.Empty(t, near)
		updated, err := a.mine.Update(ctx, record.Patch{Filter: filter, Patch: document.O("n", 2), Multi: true})
		require.NoError(t, err)
		require.Zero(t, updated)
		modified, err := a.mine.FindAndModify(ctx, record.Patch{Filter: filter, Patch: document.O("n", 2)}, true)
		require.NoError(t, err)
		require.Zero(t, modified)
		removed, err := a.mine.Delete(ctx, filter)
		require.NoError(t, err)
		require.Zero(t, removed)
	}
	_, err := a.mine.Get(t.Context(), "one")
	require.ErrorIs(t, err, boterr.NotFound)
	found, err := a.theirs.Get(t.Context(), "one")
	require.NoError(t, err)
	require.Equal(t, 1, document.Get(found, "n", 0))
}

func TestPatch_MovesNoRecord(t *testing.T) {
	t.Parallel()
	a := newApps()
	before := insert(t, a.mine, "_id", "one", "owner", "ada", "n", 1)
	for field, patches := range map[string][]document.Object{
		"patch.app": {
			document.Set("app", "theirs"), document.Unset("app"), document.O("app", "theirs"),
			document.O("$rename", document.O("n", "app")), document.O("$rename", document.O("app", "was")),
		},
		"patch._id":       {document.Set("_id", "two"), document.O("_id", "two"), document.Unset("_id")},
		"patch.owner":     {document.Set("owner", "bob"), document.Unset("owner"), document.O("owner", "bob")},
		"patch.createdAt": {document.Set("createdAt", 1), document.Inc("createdAt", 1), document.O("createdAt", nil)},
	} {
		for _, patch := range patches {
			_, err := a.mine.FindAndModify(t.Context(), record.Patch{Patch: patch, WithModifier: true}, true)
			requireInvalid(t, err, field)
			found, err := a.mine.Get(t.Context(), "one")
			require.NoError(t, err)
			require.Equal(t, before.String(), found.String(), patch)
		}
	}
}

func TestUpsert_StaysInScope(t *testing.T) {
	t.Parallel()
	a := newApps()
	for _, p := range []record.Patch{
		{Filter: document.O("app", "theirs"), Patch: document.O("n", 1)},
		{Filter: document.O("n", 1), Patch: document.O("app", "theirs")},
		{Filter: document.O("n", 1), Patch: document.O("$setOnInsert", document.O("app", "theirs")), WithModifier: true},
		{Filter: document.O("n", 1), Patch: document.O("app", "theirs"), WithModifier: true},
	} {
		p.Upsert = true
		_, err := a.mine.FindAndModify(t.Context(), p, true)
		require.ErrorIs(t, err, boterr.InvalidArgument, p)
	}
	count, err := a.theirs.Count(t.Context(), document.Object{})
	require.NoError(t, err)
	require.Zero(t, count)
}

func TestUpsert_CompleteRecord(t *testing.T) {
	t.Parallel()
	a := newApps()
	made, err := a.mine.FindAndModify(t.Context(), record.Patch{
		Filter: document.O("_id", "one", "owner", "ada"), Patch: document.Inc("n", 1), WithModifier: true, Upsert: true,
	}, true)
	require.NoError(t, err)
	require.Equal(t, "one", made.UpsertedID)
	require.JSONEq(t, `{"_id": "one", "app": "mine", "createdAt": 1000, "updatedAt": 1000, "_version": 1, "etag": "etag1", "owner": "ada", "n": 1}`,
		made.Document.Without("etag").With("etag", "etag1").String())
}

func TestPatch_RenewsStampsOnChange(t *testing.T) {
	t.Parallel()
	a := newApps()
	before := insert(t, a.mine, "_id", "one", "n", 1)
	a.now = a.now.Add(time.Second)
	for _, same := range []document.Object{document.O("n", 1), document.O("updatedAt", 5, "etag", "own", "_version", 7), document.O()} {
		result, err := a.mine.FindAndModify(t.Context(), record.Patch{Patch: same}, true)
		require.NoError(t, err)
		require.True(t, result.Matched)
		require.False(t, result.Modified)
		require.Equal(t, before.String(), result.Document.String())
	}
	result, err := a.mine.FindAndModify(t.Context(), record.Patch{Patch: document.O("n", 2, "etag", "own")}, true)
	require.NoError(t, err)
	require.True(t, result.Modified)
	after := result.Document
	require.Equal(t, 1000, document.Get(after, "createdAt", 0))
	require.Equal(t, 2000, document.Get(after, "updatedAt", 0))
	require.Equal(t, 2, document.Get(after, "_version", 0))
	require.NotContains(t, []string{"own", document.Get(before, "etag", "")}, document.Get(after, "etag", ""))
}

func TestErrors_NameTheParameter(t *testing.T) {
	t.Parallel()
	a := newApps()
	insert(t, a.mine, "_id", "one", "n", "text")
	for field, p := range map[string]record.Patch{
		"filter.n.$near":        {Filter: document.O("n", document.O("$near", 1)), Patch: document.O("n", 1)},
		"sortBy.n":              {SortBy: document.O("n", "up"), Patch: document.O("n", 1)},
		"patch":                 {},
		"patch.$inc":            {Patch: document.Inc("n", 1)},
		"patch.$push":           {Filter: document.O("n", "matches nothing"), Patch: document.O("$push", document.O("n", 1)), Upsert: true},
		"patch.$inc.n":          {Patch: document.Inc("n", "1"), WithModifier: true},
		"patch.n":               {Patch: document.Inc("n", 1), WithModifier: true},
		"patch.n.deep":          {Patch: document.O("n.deep", 1)},
		"arrayFilters[0]":       {Patch: document.O("n", 1), ArrayFilters: []document.Object{document.O("x", 1)}},
		"arrayFilters[0].x.$is": {Patch: document.O("n", 1), ArrayFilters: []document.Object{document.O("x", document.O("$is", 1))}},
	} {
		_, err := a.mine.FindAndModify(t.Context(), p, true)
		requireInvalid(t, err, field)
		_, err = a.mine.Update(t.Context(), p)
		requireInvalid(t, err, field)
	}
	_, err := a.mine.Update(t.Context(), record.Patch{Patch: document.O("n", 1), WithModifier: true, Multi: true})
	requireInvalid(t, err, "patch")
}

func TestWhere_NarrowsFurther(t *testing.T) {
	t.Parallel()
	a := newApps()
	insert(t, a.mine, "_id", "one", "room", "red")
	insert(t, a.mine, "_id", "two", "room", "blue")
	red := a.mine.Where("room", "red")
	count, err := red.Count(t.Context(), document.O("room", document.O("$in", document.A("red", "blue"))))
	require.NoError(t, err)
	require.Equal(t, int64(1), count)
	require.Equal(t, "red", document.Get(insert(t, red, "n", 1), "room", ""))
	_, err = red.FindAndModify(t.Context(), record.Patch{Patch: document.O("room", "blue")}, true)
	requireInvalid(t, err, "patch.room")
	_, err = a.mine.FindAndModify(t.Context(), record.Patch{Filter: document.O("_id", "one"), Patch: document.O("room", "blue")}, true)
	require.NoError(t, err, "the collection itself has not changed")
}

func TestDefaults_IDsSortByTime(t *testing.T) {
	t.Parallel()
	env := record.Env{}.WithDefaults()
	first, second := env.NewID(), env.NewID()
	require.Len(t, first, 36)
	require.Less(t, first, second)
	before, after := env.NewEtag(), env.NewEtag()
	require.NotEqual(t, before, after)
}

func TestRenameField(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"sortBy": "options.sort", "sortBy.a.b": "options.sort.a.b", "sortBy[0]": "options.sort[0]",
		"sortByName": "sortByName", "filter.sortBy": "filter.sortBy", "": "",
	} {
		requireField(t, record.RenameField(boterr.Invalid(field, "x"), "sortBy", "options.sort"), want)
	}
	requireField(t, record.RenameField(boterr.Invalid("[0]._id", "x"), "[0]", ""), "_id")
	require.NoError(t, record.RenameField(nil, "a", "b"))
}

// A scope value that no filter can hold matches nothing, rather than everything.
func TestCollection_ScopeTooLarge(t *testing.T) {
	t.Parallel()
	a := newApps()
	insert(t, a.mine, record.FieldID, "kept", "owner", "ada")
	nowhere := a.mine.Where("owner", strings.Repeat("x", document.MaxSize)).Where("n", "1")
	for name, call := range map[string]func() error{
		"Find":  func() error { _, err := nowhere.Find(t.Context(), record.Query{}); return err },
		"Get":   func() error { _, err := nowhere.Get(t.Context(), "kept"); return err },
		"Count": func() error { _, err := nowhere.Count(t.Context(), document.Object{}); return err },
		"Distinct": func() error {
			_, err := nowhere.Distinct(t.Context(), "owner", document.Object{})
			return err
		},
		"GeoNear": func() error {
			_, err := nowhere.GeoNear(t.Context(), document.O("near", document.A(0, 0), "key", "at"))
			return err
		},
		"Insert": func() error { _, err := nowhere.Insert(t.Context(), document.O("a", 1)); return err },
		"Update": func() error {
			_, err := nowhere.Update(t.Context(), record.Patch{Patch: document.O("a", 1), Multi: true})
			return err
		},
		"FindAndModify": func() error {
			_, err := nowhere.FindAndModify(t.Context(), record.Patch{Patch: document.O("a", 1), Upsert: true}, true)
			return err
		},
		"Delete": func() error { _, err := nowhere.Delete(t.Context(), document.Object{}); return err },
	} {
		requireInvalidAt(t, call(), "owner", name)
	}
	count, err := a.mine.Count(t.Context(), document.Object{})
	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}

// requireInvalidAt asserts that an error is about a field or a path in it.
func requireInvalidAt(t *testing.T, err error, field, what string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument, what)
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.True(t, strings.HasPrefix(e.Field, field), "%s: %v", what, err)
}

// member returns the Ref of a call that accepts a member or a memberId.
func member(given *string, id string, own *string) record.Ref {
	named := record.Ref{Kind: "member", RecordParameter: "member", IDParameter: "memberId", Record: given, ID: id}
	if own != nil {
		named.Own, named.MayBeOwn = *own, true
	}
	return named
}

func TestAddress_Resolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		named     record.Ref
		id, field string
	}{
		"the record":          {member(new("ada"), "", new("eve")), "ada", "member"},
		"the id":              {member(nil, "ada", new("eve")), "ada", "memberId"},
		"both, which are one": {member(new("ada"), "ada", new("eve")), "ada", "member"},
		"neither":             {member(nil, "", new("eve")), "eve", "memberId"},
		"neither, and no parameter for the id": {
			record.Ref{Kind: "member", RecordParameter: "member", Own: "eve", MayBeOwn: true}, "eve", "member",
		},
	} {
		id, err := c.named.Resolve()
		require.NoError(t, err, name)
		require.Equal(t, c.id, id, name)
		require.Equal(t, c.field, c.named.Field(), name)
		require.Equal(t, c.id == "eve", c.named.IsOwn(), name)
	}
}

func TestAddress_Resolve_Refuses(t *testing.T) {
	t.Parallel()
	for want, named := range map[string]record.Ref{
		"member._id: is missing: it is needed to find a member":                 member(new(""), "", new("eve")),
		`memberId: is "bob", and member is "ada": give only one of them`:        member(new("ada"), "bob", new("eve")),
		"memberId: is missing, and this context has no member":                  member(nil, "", new("")),
		"memberId: is missing; give the id of a member":                         member(nil, "", nil),
		"member: is missing, and this context has no member":                    {Kind: "member", RecordParameter: "member", Own: "", MayBeOwn: true},
		"previous: is missing; give an assignment, or only its _id":             {Kind: "assignment", RecordParameter: "previous"},
		"previous._id: is missing: it is needed to find an assignment":          {Kind: "assignment", RecordParameter: "previous", Record: new("")},
		"channel: is missing, and this context has no channel":                  {Kind: "channel", IDParameter: "channel", Own: "", MayBeOwn: true},
		"memberId[1]: is \"bob\", and member is \"ada\": give only one of them": {Kind: "member", RecordParameter: "member", IDParameter: "memberId[1]", Record: new("ada"), ID: "bob"},
	} {
		_, err := named.Resolve()
		require.EqualError(t, err, "invalid argument: "+want)
	}
}

type stored struct{ id string }

// load finds only the record "ada".
func load(id string) (*stored, error) {
	switch id {
	case "ada":
		return &stored{id: id}, nil
	case "far":
		return nil, boterr.New(boterr.Unavailable, "id", "the wire is cut")
	case "nil":
		return nil, nil
	default:
		return nil, record.NotFound("member", id)
	}
}

func TestLoad_ReturnsTheRecordAsItIsStored(t *testing.T) {
	t.Parallel()
	found, err := record.Load(member(new("ada"), "", nil), load)
	require.NoError(t, err)
	require.Equal(t, "ada", found.id)
}

func TestLoad_SaysWhereTheIDStands(t *testing.T) {
	t.Parallel()
	for want, named := range map[string]record.Ref{
		"not found: member._id: there is no member bob here":              member(new("bob"), "", nil),
		"not found: memberId: there is no member bob here":                member(nil, "bob", nil),
		"not found: memberId: there is no member eve here":                member(nil, "", new("eve")),
		"not found: memberId: there is no member nil here":                member(nil, "nil", nil),
		"unavailable: member._id: the wire is cut":                        member(new("far"), "", nil),
		"invalid argument: memberId: is missing; give the id of a member": member(nil, "", nil),
	} {
		found, err := record.Load(named, load)
		require.EqualError(t, err, want)
		require.Nil(t, found)
	}
}

// notes returns a collection of an app with some records, numbered by their time.
func notes(t *testing.T, count int) *record.Collection {
	t.Helper()
	env := record.Env{Store: memstore.New()}
	c := record.OfApp(env, &record.Schema{Name: "note", Collection: "notes"}, "mine")
	for i := range count {
		_, err := c.Insert(t.Context(), document.O("_id", "n"+strconv.Itoa(i), "at", i/2))
		require.NoError(t, err)
	}
	other := record.OfApp(env, &record.Schema{Name: "note", Collection: "notes"}, "theirs")
	_, err := other.Insert(t.Context(), document.O("_id", "other", "at", 0))
	require.NoError(t, err)
	t.Cleanup(func() {
		left, err := other.Count(context.Background(), document.O())
		require.NoError(t, err)
		require.EqualValues(t, 1, left, "other apps keep their records")
	})
	return c
}

func TestRemove_Batches(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, record.RemovalBatch, record.RemovalBatch + 1, 2 * record.RemovalBatch} {
		for _, oldestBy := range []string{"", "at"} {
			removed, err := notes(t, count).Remove(t.Context(), record.Removal{Filter: document.O(), OldestBy: oldestBy})
			require.NoError(t, err)
			require.EqualValues(t, count, removed)
		}
	}
}

func TestRemove_Spares(t *testing.T) {
	t.Parallel()
	c := notes(t, 3*record.RemovalBatch)
	batches := 0
	removed, err := c.Remove(t.Context(), record.Removal{
		Filter: document.O("at", document.O("$gte", 1)), OldestBy: "at",
		Spare: func(_ context.Context, batch []document.Object) (map[string]bool, error) {
			batches++
			spare := map[string]bool{}
			for _, o := range batch {
				id := document.Get(o, "_id", "")
				spare[id] = id[len(id)-1]%2 == 1
			}
			return spare, nil
		},
	})
	require.NoError(t, err)
	require.EqualValues(t, 3*record.RemovalBatch/2-1, removed)
	require.Equal(t, 3, batches)
	left, err := c.Count(t.Context(), document.O("at", document.O("$gte", 1)))
	require.NoError(t, err)
	require.EqualValues(t, 3*record.RemovalBatch/2-1, left)
}

func TestRemove_SpareFails(t *testing.T) {
	t.Parallel()
	c := notes(t, 3)
	broken := errors.New("broken")
	removed, err := c.Remove(t.Context(), record.Removal{
		Filter: document.O(), OldestBy: "at",
		Spare: func(context.Context, []document.Object) (map[string]bool, error) { return nil, broken },
	})
	require.ErrorIs(t, err, broken)
	require.Zero(t, removed)
}

func Example() {
	ctx := context.Background()
	notes := record.Open(record.Env{Store: memstore.New()}, &record.Schema{Name: "note", Collection: "notes", Fixed: []string{"app"}})
	mine, theirs := notes.Where("app", "mine"), notes.Where("app", "theirs")

	fmt.Println(mine.Insert(ctx, document.O("_id", "n1", "text", "buy tea")))
	fmt.Println(mine.Get(ctx, "n1"))
	fmt.Println(theirs.Get(ctx, "n1"))
	// Output:
	// {"_id":"n1","app":"mine","text":"buy tea"} <nil>
	// {"_id":"n1","app":"mine","text":"buy tea"} <nil>
	// null not found: there is no note n1 here
}
