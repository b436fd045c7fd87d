package mongo

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// someHidden is what the hidden field of a document holds.
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

	now = now.Add(time.Hour) // What was known an hour ago counts for less: the clocks may have drifted apart.
	ask(0, 100*time.Millisecond)
	requireWithin(51 * time.Millisecond)
	now = now.Add(-time.Minute) // The own clock is set.
	clock.learn(now, now.Add(ahead+time.Minute))
	require.InDelta(t, (ahead + time.Minute).Microseconds(), clock.ahead().Microseconds(), 1000)
}
