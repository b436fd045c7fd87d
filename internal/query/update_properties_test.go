package query_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/query"
)

// aSide is a document whose field "a" an operator is tried on, beside fields that it
// must leave alone.
type aSide struct {
	*testing.T

	random *rand.Rand
	before document.Object
}

// eachASide tries an operator on documents that have any value or none at "a".
func eachASide(t *testing.T, seed uint64, try func(s *aSide)) {
	t.Helper()
	s := &aSide{T: t, random: rand.New(rand.NewPCG(seed, seed))}
	for range samples {
		s.before = randomDocument(s.random)
		try(s)
	}
}

// apply applies an update, and checks that it left everything but "a" as it was, that it
// counts as modified where it changed something to the letter, and that after an error
// there is nothing.
func (s *aSide) apply(pairs ...any) (after any, ok bool, err error) {
	s.Helper()
	update, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(s, err)
	o, modified, err := query.Change{Update: update}.Apply(nil, s.before)
	if err != nil {
		require.ErrorIs(s, err, boterr.InvalidArgument)
		require.True(s, o.IsZero())
		require.False(s, modified)
		return nil, false, err
	}
	if wasText, isText := s.before.String(), o.String(); wasText[0] == '{' && isText[0] == '{' { // NaN has no JSON.
		require.Equal(s, wasText != isText, modified, "%s of %s", update.Source(), s.before)
	}
	require.True(s, document.Equal(s.before.Without("a"), o.Without("a")), "%s of %s", update.Source(), s.before)
	again, _, err := query.Change{Update: update}.Apply(nil, s.before)
	require.NoError(s, err)
	require.True(s, document.Equal(o, again), "the same again")
	after, ok = o.Field("a")
	return after, ok, nil
}

// old returns the value at "a".
func (s *aSide) old() (value any, ok bool) { return s.before.Field("a") }

// list returns the elements at "a", and whether there is an array or nothing.
func (s *aSide) list() ([]any, bool) {
	value, ok := s.old()
	array, isArray := value.(document.Array)
	return elements(array), isArray || !ok
}

func elements(array document.Array) []any {
	items := []any{}
	for _, item := range array.All() {
		items = append(items, item)
	}
	return items
}

func (s *aSide) requireEqual(want, got any) {
	s.Helper()
	require.Zero(s, document.Compare(want, got), "of %s: want %v, got %v", s.before, want, got)
}

func TestSetAndUnset_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 10, func(s *aSide) {
		v := arbitrary.Value(s.random, 2)
		after, ok, err := s.apply("$set", document.O("a", v))
		require.NoError(s, err)
		require.True(s, ok)
		s.requireEqual(v, after)
		_, ok, err = s.apply("$unset", document.O("a", v))
		require.NoError(s, err)
		require.False(s, ok)
		old, had := s.old()
		after, ok, err = s.apply("$setOnInsert", document.O("a", v))
		require.NoError(s, err)
		require.Equal(s, had, ok)
		s.requireEqual(old, after)
	})
}

func TestMinAndMax_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 11, func(s *aSide) {
		v := arbitrary.Value(s.random, 2)
		old, had := s.old()
		if !had {
			old = v
		}
		least, err := lesserOf(s, "$min", v)
		require.NoError(s, err)
		greatest, err := lesserOf(s, "$max", v)
		require.NoError(s, err)
		if document.Compare(v, old) < 0 {
			s.requireEqual(v, least)
			s.requireEqual(old, greatest)
		} else {
			s.requireEqual(old, least)
			s.requireEqual(v, greatest)
		}
	})
}

func lesserOf(s *aSide, operator string, v any) (any, error) {
	after, _, err := s.apply(operator, document.O("a", v))
	return after, err
}

func TestIncAndMul_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 12, func(s *aSide) {
		n := s.random.Int64N(1<<33) - 1<<32
		old, had := s.old()
		if !had {
			old = int64(0)
		}
		sum, _, errInc := s.apply("$inc", document.O("a", n))
		product, _, errMul := s.apply("$mul", document.O("a", n))
		m, isInteger := old.(int64)
		switch _, isFloat := old.(float64); {
		case !isInteger && !isFloat:
			require.Error(s, errInc)
			require.Error(s, errMul)
		case isInteger && errInc == nil:
			require.Equal(s, m+n, sum)
			require.Equal(s, cmp.Compare(m+n, m), cmp.Compare(n, 0), "no wrap")
		case isInteger:
			require.NotEqual(s, cmp.Compare(m+n, m), cmp.Compare(n, 0), "only a wrap is refused")
		case errInc == nil:
			s.requireEqual(old.(float64)+float64(n), sum)
		}
		if isInteger && errMul == nil && n != 0 {
			require.Equal(s, m*n, product)
			require.Equal(s, m, m*n/n, "no wrap")
		}
	})
}

func TestPush_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 13, func(s *aSide) {
		v, w := arbitrary.Value(s.random, 2), arbitrary.Value(s.random, 2)
		items, fits := s.list()
		after, _, err := s.apply("$push", document.O("a", document.O("$each", document.A(v, w))))
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		s.requireEqual(document.A(append(slices.Clone(items), v, w)...), after)
		place := s.random.IntN(len(items) + 1)
		after, _, err = s.apply("$push", document.O("a", document.O("$each", document.A(v, w), "$position", place)))
		require.NoError(s, err)
		s.requireEqual(document.A(slices.Insert(slices.Clone(items), place, v, w)...), after)
		size := s.random.IntN(4)
		after, _, err = s.apply("$push", document.O("a", document.O("$each", document.A(v, w), "$sort", 1, "$slice", size)))
		require.NoError(s, err)
		ordered := append(slices.Clone(items), v, w)
		slices.SortStableFunc(ordered, document.Compare)
		s.requireEqual(document.A(ordered[:min(size, len(ordered))]...), after)
	})
}

func TestAddToSet_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 14, func(s *aSide) {
		v, w := arbitrary.Value(s.random, 1), arbitrary.Value(s.random, 1)
		items, fits := s.list()
		add := document.O("a", document.O("$each", document.A(v, w, v)))
		after, _, err := s.apply("$addToSet", add)
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		for _, value := range []any{v, w} {
			if !slices.ContainsFunc(items, func(item any) bool { return document.Equal(item, value) }) {
				items = append(items, value)
			}
		}
		s.requireEqual(document.A(items...), after)
		s.before = s.before.With("a", after)
		again, _, err := s.apply("$addToSet", add)
		require.NoError(s, err)
		s.requireEqual(after, again)
	})
}

func TestPull_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 15, func(s *aSide) {
		v, w := arbitrary.Value(s.random, 1), arbitrary.Value(s.random, 1)
		items, fits := s.list()
		if len(items) > 0 && s.random.IntN(2) == 0 {
			v = items[s.random.IntN(len(items))]
		}
		without := func(values ...any) document.Array {
			return document.A(slices.DeleteFunc(slices.Clone(items), func(item any) bool {
				return slices.ContainsFunc(values, func(value any) bool { return document.Equal(item, value) })
			})...)
		}
		after, had, err := s.apply("$pullAll", document.O("a", document.A(v, w)))
		pulled, _, errPull := s.apply("$pull", document.O("a", document.O("$in", document.A(v, w))))
		require.Equal(s, err == nil, errPull == nil)
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		if had {
			s.requireEqual(without(v, w), after)
		}
		if _, isArray := v.(document.Array); !isArray && had {
			if _, isArray := w.(document.Array); !isArray && !holdsArrays(items) {
				s.requireEqual(after, pulled)
			}
		}
	})
}

// holdsArrays reports whether an array is among items, the elements of which $in looks
// at, too.
func holdsArrays(items []any) bool {
	return slices.ContainsFunc(items, func(item any) bool {
		_, ok := item.(document.Array)
		return ok
	})
}

func TestPop_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 16, func(s *aSide) {
		items, fits := s.list()
		last, had, err := s.apply("$pop", document.O("a", 1))
		first, _, _ := s.apply("$pop", document.O("a", -1))
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		if had && len(items) > 0 {
			s.requireEqual(document.A(items[:len(items)-1]...), last)
			s.requireEqual(document.A(items[1:]...), first)
		}
	})
}

func TestRename_IsSetAndUnset(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 17))
	for range samples {
		before := randomDocument(random)
		after, err := changed(t, before, document.O("$rename", document.O("a", "b")))
		require.NoError(t, err)
		moved, had := before.Field("a")
		if !had {
			require.Equal(t, before.String(), after.String())
			continue
		}
		want, err := changed(t, before, document.O("$set", document.O("b", moved), "$unset", document.O("a", "")))
		require.NoError(t, err)
		require.True(t, document.Equal(want, after), "%s: want %s, got %s", before, want, after)
	}
}
