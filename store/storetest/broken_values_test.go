package storetest_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// rewriting stores documents otherwise than they were given.
type rewriting struct {
	store.Collection

	rewrite func(any) any
}

func (c rewriting) Insert(ctx context.Context, documents ...document.Object) error {
	rewritten := slices.Clone(documents)
	for i, o := range documents {
		if o.Err() == nil && !o.IsZero() {
			rewritten[i], _ = rewriteInside(o, c.rewrite).(document.Object)
		}
	}
	return c.Collection.Insert(ctx, rewritten...)
}

// rewriteInside rewrites a value and all values in it.
func rewriteInside(value any, rewrite func(any) any) any {
	switch v := value.(type) {
	case document.Object:
		next := document.O()
		for key, field := range v.All() {
			next = next.With(key, rewriteInside(field, rewrite))
		}
		return rewrite(next)
	case document.Array:
		next := document.A()
		for _, item := range v.All() {
			next = next.Append(rewriteInside(item, rewrite))
		}
		return rewrite(next)
	default:
		return rewrite(value)
	}
}

// The ways of losing something of a value.

func intsAsDoubles(value any) any {
	if i, ok := value.(int64); ok {
		return float64(i)
	}
	return value
}

func wholeDoublesAsInts(value any) any {
	if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return value
}

func sortedFields(value any) any {
	o, ok := value.(document.Object)
	if !ok {
		return value
	}
	fields := maps.Collect(o.All())
	next := document.O()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		next = next.With(key, fields[key])
	}
	return next
}

func wholeSeconds(value any) any {
	if t, ok := value.(time.Time); ok {
		return t.Truncate(time.Second)
	}
	return value
}

func cutAtNUL(value any) any {
	if s, ok := value.(string); ok {
		s, _, _ = strings.Cut(s, "\x00")
		return s
	}
	return value
}

func withoutNull(value any) any {
	o, ok := value.(document.Object)
	if !ok {
		return value
	}
	for key, field := range o.All() {
		if field == nil && key != document.IDField {
			o = o.Without(key)
		}
	}
	return o
}
