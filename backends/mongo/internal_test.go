package mongo

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// someHidden is the content of a hidden field.
var someHidden = hidden{order: 7, revision: bson.NewObjectID()}

func TestBSON_RoundTrip(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]document.Object{
		"types": document.O(
			"_id", "a", "null", nil, "bool", true, "int", 1, "double", 1.0, "large", int64(math.MaxInt64), "inf", math.Inf(1),
			"text", "a\x00b é", "at", time.UnixMilli(1_700_000_000_123).UTC(), "list", document.A(1, document.A(), "x"), "in", document.O(),
		),
		"_id in the middle": document.O("z", 1, "_id", 2, "a", 3),
		"_id at the end":    document.O("z", 1, "a", 3, "_id", 2),
		"_id alone":         document.O("_id", document.O("b", 1, "a", 2)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := stored(o, someHidden)
			require.NoError(t, err)
			require.NoError(t, b.Validate())
			elements, err := b.Elements()
			require.NoError(t, err)
			require.Equal(t, "_id", elements[0].Key())
			got, err := read(b)
			require.NoError(t, err)
			require.Equal(t, someHidden, got.hidden)
			require.Equal(t, o.String(), got.document.String())
			again, err := stored(got.document, someHidden)
			require.NoError(t, err)
			require.Equal(t, b, again, "types of numbers included")
		})
	}
}

func TestBSON_WrittenByOthers(t *testing.T) {
	t.Parallel()
	b, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(1)}, {Key: "n", Value: bson.A{int32(2), bson.Undefined{}}}})
	require.NoError(t, err)
	got, err := read(b)
	require.NoError(t, err)
	require.True(t, got.hidden.isAbsent)
	require.Equal(t, document.O("_id", 1, "n", document.A(2, nil)).String(), got.document.String())

	for _, value := range []any{bson.NewObjectID(), bson.NewDecimal128(1, 2), bson.Binary{Data: []byte("x")}, bson.Regex{Pattern: "x"}} {
		b, err := bson.Marshal(bson.D{{Key: "_id", Value: 1}, {Key: "in", Value: bson.D{{Key: "v", Value: value}}}})
		require.NoError(t, err)
		_, err = read(b)
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		e, _ := boterr.AsError(err)
		require.Equal(t, "in.v", e.Field)
	}
}

func TestBSON_Broken(t *testing.T) {
	t.Parallel()
	b, err := stored(document.O("_id", 1, "list", document.A("x", 1.5)), someHidden)
	require.NoError(t, err)
	for length := range b {
		_, err := read(b[:length])
		require.ErrorIs(t, err, boterr.Internal, "cut at %d", length)
	}
}

func TestCollectionNames_StayApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{
		"a", "A", "a$b", "a%24b", "a%b", "a%25b", ".a", "%2Ea", strings.Repeat("%", 200), strings.Repeat("%", 199) + "a",
		strings.Repeat("é", 100),
	} {
		require.NoError(t, store.CheckName(name))
		stored := storedName(name)
		require.NotContains(t, seen, stored, "%q and %q", name, seen[stored])
		require.LessOrEqual(t, len(stored), maxName)
		require.NotContains(t, stored, "$")
		seen[stored] = name
	}
}

func TestInsertionOrder_Grows(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	clock := newOrderClock(func() time.Time { return now })
	first := clock.take(3)
	second := clock.take(1)
	require.Less(t, place(first, 2), second, "in the same microsecond")
	clock.learn(now, now.Add(-time.Hour))
	require.Less(t, second, clock.take(1), "where the server's clock is behind")
	clock.learn(now, now.Add(time.Hour))
	require.Greater(t, clock.take(1)>>orderBits, now.Add(59*time.Minute).UnixMicro())
	seen := now.Add(2*time.Hour).UnixMicro()<<orderBits | (1<<orderBits - 1)
	clock.see(seen)
	clock.see(first)
	require.Less(t, seen, clock.take(1), "behind the last one that was seen")
}

func TestInsertionOrder_IsNear(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	clock := newOrderClock(func() time.Time { return now })
	for _, step := range []struct {
		took time.Duration
		near bool
	}{{time.Second, false}, {near, false}, {near - 2*resolution, true}, {time.Second, true}} {
		asked := now
		now = now.Add(step.took)
		clock.learn(asked, now)
		require.Equal(t, step.near, clock.isNear(), step.took)
	}
}

func TestInsertionOrder_SlowAnswersTakeNothingFromFastOnes(t *testing.T) {
	t.Parallel()
	const ahead = time.Hour
	start := time.UnixMilli(1_700_000_000_000)
	now := start
	clock := newOrderClock(func() time.Time { return now })
	ask := func(there, back time.Duration) {
		asked := now
		told := now.Add(there + ahead).Truncate(time.Millisecond)
		now = now.Add(there + back)
		clock.learn(asked, told)
	}
	requireWithin := func(most time.Duration) {
		t.Helper()
		require.InDelta(t, ahead.Microseconds(), clock.ahead().Microseconds(), float64(most.Microseconds()))
	}
	ask(0, 400*time.Millisecond)
	requireWithin(201 * time.Millisecond)
	ask(200*time.Microsecond, 200*time.Microsecond)
	requireWithin(time.Millisecond)
	ask(0, 400*time.Millisecond)
	requireWithin(time.Millisecond)
	ask(400*time.Millisecond, 0)
	requireWithin(time.Millisecond)

	now = now.Add(time.Hour) // What was learned an hour ago is less accurate, because clocks drift.
	ask(0, 100*time.Millisecond)
	requireWithin(51 * time.Millisecond)
	now = now.Add(-time.Minute) // The local clock is set back.
	clock.learn(now, now.Add(ahead+time.Minute))
	require.InDelta(t, (ahead + time.Minute).Microseconds(), clock.ahead().Microseconds(), 1000)
}

func TestErrorCode_EachOfTheServer(t *testing.T) {
	t.Parallel()
	expected := maps.Clone(codesOf)
	expected[boterr.Internal] = []int{1, 8, 17, 25, 36, 45, 51, 63, 78, 127, 152, 245, 442, 463, 9751903, 16554}
	expected[boterr.AlreadyExists] = []int{11000, 11001, 12582}
	for means, codes := range expected {
		for _, code := range codes {
			for _, err := range []error{
				mongo.CommandError{Code: int32(code), Message: "no"},
				mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: code, Message: "no"}}},
				mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: code, Message: "no"}}}},
			} {
				require.Equal(t, means, boterr.CodeOf(failure(t.Context(), nil, err)), "%d in a %T", code, err)
			}
		}
	}
}

func TestErrorCode_TransientLabel(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"RetryableWriteError", "RetryableError", "SystemOverloadedError", "TransientTransactionError", "NetworkError",
		"NetworkTimeoutError", "ExceededTimeLimitError",
	} {
		for _, err := range []error{
			mongo.CommandError{Code: 2, Message: "no", Labels: []string{"NoWritesPerformed", label}},
			mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 2}}, Labels: []string{label}},
			mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: 2}}}, Labels: []string{label}},
		} {
			require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), nil, err)), "%s in a %T", label, err)
		}
	}
	other := mongo.CommandError{Code: 2, Message: "no", Labels: []string{"NoWritesPerformed"}}
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(failure(t.Context(), nil, other)))
}

func TestErrorCode_Network(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		mongo.ErrClientDisconnected, io.ErrUnexpectedEOF, context.DeadlineExceeded, errors.New("server selection failed"),
		mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 100}},
	} {
		require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), nil, err)), "%v", err)
	}
}

func TestErrorCode_TransientBesideOthers(t *testing.T) {
	t.Parallel()
	err := mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{
		{WriteError: mongo.WriteError{Code: 14}}, {WriteError: mongo.WriteError{Code: 462}},
	}}
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), nil, err)))
}

func TestErrorCode_NamelessAssertion(t *testing.T) {
	t.Parallel()
	refused := mongo.CommandError{Code: 16554, Name: "Location16554", Message: "$add only supports numeric or date types"}
	expression := sharedtest.Filter(t, "$expr", document.O("$add", document.A("$a", 1)))
	plain := sharedtest.Filter(t, "a", 1)
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(failure(t.Context(), expression, refused)))
	require.Equal(t, boterr.Internal, boterr.CodeOf(failure(t.Context(), plain, refused)))
	passing := mongo.CommandError{Code: 91331, Message: "no"}
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), expression, passing)))
}

var wantedIndex = store.Index{Keys: []store.IndexKey{{Path: "n", Kind: query.Ascending}}, Unique: true}

// listed returns an index on n with these options, as a server lists it.
func listed(t *testing.T, options ...bson.E) storedIndex {
	t.Helper()
	b, err := bson.Marshal(append(bson.D{
		{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "n", Value: int32(1)}}}, {Key: "name", Value: "of the host"},
	}, options...))
	require.NoError(t, err)
	index, err := readIndex(b)
	require.NoError(t, err)
	return index
}

func TestIndex_OptionsThatMatter(t *testing.T) {
	t.Parallel()
	c := &collection{name: "own"}
	unique := bson.E{Key: "unique", Value: true}
	for _, option := range []bson.E{
		{Key: "partialFilterExpression", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 5}}}}},
		{Key: "collation", Value: bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}}},
		{Key: "expireAfterSeconds", Value: int32(60)},
		{Key: "expireAfterSeconds", Value: int32(0)},
		{Key: "hidden", Value: true},
		{Key: "sparse", Value: true},
		{Key: "an option of another version", Value: "x"},
	} {
		there := ofSameKeys([]storedIndex{listed(t, unique, option)}, wantedIndex)
		err := c.checkSame(there, wantedIndex)
		require.ErrorIs(t, err, boterr.FailedPrecondition, option.Key)
		require.ErrorContains(t, err, option.Key)
		require.ErrorContains(t, err, "drop that index")
		require.NoError(t, c.checkSame(append(there, listed(t, unique)), wantedIndex), "%s, beside the wanted one", option.Key)
	}
}

func TestIndex_OptionsThatChangeNothing(t *testing.T) {
	t.Parallel()
	c := &collection{name: "own"}
	for _, option := range []bson.E{
		{Key: "ns", Value: "base.own"},
		{Key: "background", Value: true},
		{Key: "hidden", Value: false},
		{Key: "sparse", Value: false},
		{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}},
	} {
		there := ofSameKeys([]storedIndex{listed(t, bson.E{Key: "unique", Value: true}, option)}, wantedIndex)
		require.NoError(t, c.checkSame(there, wantedIndex), option.Key)
	}
}

func TestIndex_OfOurNameIsOurs(t *testing.T) {
	t.Parallel()
	c := &collection{name: "own"}
	sparse := wantedIndex
	sparse.Unique, sparse.Sparse = false, true
	foreign, own := listed(t), listed(t)
	require.Equal(t, "of the host", own.name)
	own.name = indexName(sparse)
	require.NoError(t, c.checkSame([]storedIndex{own}, sparse), "FerretDB does not list that it is sparse")
	require.Error(t, c.checkSame([]storedIndex{foreign}, sparse))
	own.others = []string{"hidden"}
	require.Error(t, c.checkSame([]storedIndex{own}, sparse))
}

func TestIndex_LeavesDocumentsOut(t *testing.T) {
	t.Parallel()
	index := storedIndex{Index: store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}}}
	near, err := query.CompileGeoNear(document.O("near", document.O("type", "Point", "coordinates", document.A(1, 2)), "key", "at"))
	require.NoError(t, err)
	_, isServed, err := served(near, []storedIndex{index})
	require.NoError(t, err)
	require.True(t, isServed)
	index.others = []string{"partialFilterExpression"}
	_, isServed, err = served(near, []storedIndex{index})
	require.NoError(t, err)
	require.False(t, isServed)
}

func planOf(t *testing.T, filter, update document.Object) (plan, bool) {
	t.Helper()
	f := sharedtest.FilterOf(t, filter)
	u, err := query.CompileUpdate(update)
	require.NoError(t, err)
	return planned(f, query.Change{Update: u, Fixed: []string{"app"}, Stamps: query.Stamps{Set: document.O("etag", "x")}})
}

func TestPlan_CertainChangeIsOneStep(t *testing.T) {
	t.Parallel()
	one := document.O("n", 1)
	for name, test := range map[string]struct{ filter, update document.Object }{
		"$inc and more":  {document.O("by", nil), document.O("$inc", document.O("a.b", 1), "$set", document.O("by", "me"))},
		"$push":          {one, document.O("$push", document.O("list", document.O("a", 1)))},
		"$push of each":  {one, document.O("$push", document.O("list", document.O("$each", document.A(document.O("a", 1), 2))))},
		"another value":  {document.O("taken", false), document.O("$set", document.O("taken", true))},
		"missing":        {document.O("by", nil), document.O("$set", document.O("by", "me"))},
		"not there":      {document.O("by", document.O("$exists", false)), document.O("$set", document.O("by", "me"))},
		"removed":        {document.O("by", "me"), document.O("$unset", document.O("by", ""))},
		"beyond a range": {document.O("until", document.O("$lte", 5)), document.O("$set", document.O("until", 9))},
		"in $and":        {document.O("$and", document.A(one, document.O("taken", false))), document.O("$set", document.O("taken", true))},
		"in $or": {
			document.O("$or", document.A(document.O("until", nil), document.O("until", document.O("$lt", 5)))),
			document.O("$set", document.O("until", 9)),
		},
	} {
		p, ok := planOf(t, test.filter, test.update)
		require.True(t, ok, name)
		require.True(t, p.condition.IsZero(), name)
	}
}

func TestPlan_ConditionAndID(t *testing.T) {
	t.Parallel()
	id := document.O("_id", 1)
	for name, update := range map[string]document.Object{
		"$set":      document.O("$set", document.O("n", 1)),
		"$inc":      document.O("$inc", document.O("n", 1)),
		"$unset":    document.O("$unset", document.O("n", "")),
		"$addToSet": document.O("$addToSet", document.O("n", 1)),
		"$pull":     document.O("$pull", document.O("n", 1)),
	} {
		p, ok := planOf(t, id, update)
		require.True(t, ok, name)
		require.False(t, p.condition.IsZero(), name)
		_, ok = planOf(t, document.O("m", 1), update)
		require.False(t, ok, "%s without an _id: another document than the first might change", name)
	}
}

func TestPlan_Increment(t *testing.T) {
	t.Parallel()
	p, ok := planOf(t, document.O("_id", 1), document.O("$inc", document.O("n", 1)))
	require.True(t, ok)
	condition := sharedtest.FilterOf(t, p.condition)
	for _, n := range []any{int64(1), int64(1 << 60), 1.5, -1e15, float64(1<<53 - 1)} {
		require.True(t, condition.Match(document.O("n", n)), "%v", n)
	}
	require.True(t, condition.Match(document.O()), "a field that is missing")
	for _, n := range []any{float64(1 << 53), -float64(1 << 53), 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		require.False(t, condition.Match(document.O("n", n)), "%v", n)
	}
}

func TestPlan_None(t *testing.T) {
	t.Parallel()
	for name, update := range map[string]document.Object{
		"a replacement":     document.O("n", 1),
		"a fixed field":     document.O("$set", document.O("app.x", 1)),
		"a stamped field":   document.O("$set", document.O("etag", 1), "$inc", document.O("n", 1)),
		"the _id":           document.O("$set", document.O("_id", 1)),
		"$max":              document.O("$max", document.O("n", 1)),
		"a conditional":     document.O("$pull", document.O("n", document.O("$gt", 1))),
		"an increment of 0": document.O("$inc", document.O("n", 0)),
		"none of each":      document.O("$push", document.O("n", document.O("$each", document.A()))),
		"each with a $":     document.O("$push", document.O("n", document.O("$each", document.A(document.O("$x", 1))))),
		"a modifier":        document.O("$push", document.O("n", document.O("$each", document.A(1), "$slice", 1))),
		"elements":          document.O("$inc", document.O("n.$[].x", 1)),
	} {
		_, ok := planOf(t, document.O("_id", 1), update)
		require.False(t, ok, name)
	}
}

func TestFilter_PatternsInListsAreRegularExpressions(t *testing.T) {
	t.Parallel()
	o, a := document.O, document.A
	pattern := o("$regex", "^a", "$options", "xi")
	for name, test := range map[string]struct {
		filter document.Object
		want   string
	}{
		"of $in":   {o("a", o("$in", a(1, pattern))), `{"a": {"$in": [1,R]}}`},
		"of $nin":  {o("a", o("$not", o("$nin", a(pattern)))), `{"a": {"$not": {"$nin": [R]}}}`},
		"of $all":  {o("a", o("$all", a("b", pattern))), `{"a": {"$all": ["b",R]}}`},
		"in $or":   {o("$or", a(o("a", o("$in", a(pattern))))), `{"$or": [{"a": {"$in": [R]}}]}`},
		"elements": {o("a", o("$elemMatch", o("b", o("$in", a(pattern))))), `{"a": {"$elemMatch": {"b": {"$in": [R]}}}}`},
		"in both": {
			o("a", o("$all", a(o("$elemMatch", o("$in", a(pattern)))))), `{"a": {"$all": [{"$elemMatch": {"$in": [R]}}]}}`,
		},
		"on a field": {o("a", o("$regex", "^a")), `{"a": {"$regex": "^a"}}`},
		"a value":    {o("a", o("b", o("$in", a(o("$regex", "x"))))), `{"a": {"b": {"$in": [{"$regex": "x"}]}}}`},
		"a value of $eq": {
			o("a", o("$eq", o("$in", a(o("$regex", "x"))))), `{"a": {"$eq": {"$in": [{"$regex": "x"}]}}}`,
		},
		"a value of $in": {
			o("a", o("$in", a(o("b", o("$in", a(o("$regex", "x"))))))), `{"a": {"$in": [{"b": {"$in": [{"$regex": "x"}]}}]}}`,
		},
		"a literal": {
			o("$expr", o("$eq", a("$a", o("$literal", o("$in", a(o("$regex", "x"))))))),
			`{"$expr": {"$eq": ["$a",{"$literal": {"$in": [{"$regex": "x"}]}}]}}`,
		},
	} {
		f, err := query.CompileFilter(test.filter)
		require.NoError(t, err, name)
		got, err := queryOf(f)
		require.NoError(t, err, name)
		want := strings.ReplaceAll(test.want, "R", `{"$regularExpression":{"pattern":"^a","options":"ix"}}`)
		canonical, err := bson.MarshalExtJSON(got, false, false)
		require.NoError(t, err, name)
		require.JSONEq(t, want, string(canonical), name)
	}
}

func TestFilter_HiddenFieldIsRefused(t *testing.T) {
	t.Parallel()
	for _, source := range []document.Object{
		document.O("_botctx", nil),
		document.O("$or", document.A(document.O("_botctx.order", 1))),
		document.O("$expr", document.O("$gt", document.A("$_botctx.order", 1))),
		document.O("$expr", document.O("$gt", document.A("$$ROOT._botctx.order", 1))),
	} {
		f := sharedtest.FilterOf(t, source)
		_, err := queryOf(f)
		require.ErrorIs(t, err, boterr.InvalidArgument, source.String())
	}
	f := sharedtest.Filter(t, "$expr", document.O("$eq", document.A("$$ROOT", document.O("_id", 1))))
	o, err := queried(f)
	require.NoError(t, err)
	require.Contains(t, o.String(), `{"$unsetField":{"field":"_botctx","input":"$$ROOT"}}`)
}

func TestTimeout_UnlessInTheAddress(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]time.Duration{
		"mongodb://localhost/bots":                DefaultTimeout,
		"mongodb://localhost/bots?timeoutMS=1500": 1500 * time.Millisecond,
		"mongodb://localhost/bots?timeoutMS=0":    0,
	} {
		require.Equal(t, want, *clientOptions(uri).Timeout, uri)
	}
	more := options.Client().SetTimeout(time.Minute)
	require.Equal(t, time.Minute, *options.MergeClientOptions(clientOptions("mongodb://localhost/bots"), more).Timeout)
}

func TestWithClientOptions_AddsToEarlierOnes(t *testing.T) {
	t.Parallel()
	set := settingsOf([]Option{
		WithClientOptions(options.Client().SetTimeout(time.Minute)), WithClientOptions(nil), WithClientOptions(options.Client().SetAppName("bots")),
	})
	require.Equal(t, time.Minute, *set.client.Timeout)
	require.Equal(t, "bots", *set.client.AppName)
}
