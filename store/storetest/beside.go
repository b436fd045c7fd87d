package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// RunBeside carries out the random operations of a seed on a store and on a reference such as memstore, and
// checks that both return the same. If there are several stores under test, they must share their content, as
// in several processes; each operation is carried out by one of them. The collection "storetest" must be empty
// in all stores.
func RunBeside(t T, seed uint64, operations int, reference store.Store, tested ...store.Store) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // Tests need no secrecy.
	for number := range operations {
		text, do := RandomOperation(seed, number)
		want, wrong := do(t.Context(), reference.Collection("storetest"))
		got, err := do(t.Context(), tested[r.IntN(len(tested))].Collection("storetest"))
		text = fmt.Sprintf("seed %d, operation %d, %s: %v, %v", seed, number, text, wrong, err)
		if wrong != nil && err != nil {
			continue // With two faults, a store may report either.
		}
		require.Equal(t, boterr.CodeOf(wrong), boterr.CodeOf(err), text)
		if err == nil {
			require.Equal(t, want, got, text)
		}
	}
}

// Doing carries out an operation, and returns its result as text.
type Doing func(ctx context.Context, c store.Collection) (string, error)

// RandomOperation returns the operation with a number in the sequence of a seed. The first operations of a sequence fill
// the collection.
func RandomOperation(seed uint64, number int) (text string, do Doing) {
	const indexed, filled = 2, 20
	r := randomly{rand.New(rand.NewPCG(seed, uint64(number)))} //nolint:gosec // Tests need no secrecy.
	switch kind := r.IntN(20); {
	case number < indexed || kind == 0:
		return r.ensureIndex()
	case number < filled || kind < 6:
		return r.insert()
	case kind < 9:
		return r.update()
	case kind < 12:
		return r.findAndModify()
	case kind == 12:
		return r.remove()
	case kind == 13:
		return r.near()
	default:
		return r.read()
	}
}

type randomly struct{ *rand.Rand }

// isOne returns true with a probability of 1 in of.
func (r randomly) isOne(of int) bool { return r.IntN(of) == 0 }

// path returns the path of a field in random documents.
func (r randomly) path() string { return []string{"a", "b", "b.c", "n"}[r.IntN(4)] }

func (r randomly) direction() int { return 1 - 2*r.IntN(2) }

func (r randomly) ensureIndex() (text string, do Doing) {
	var index store.Index
	if r.isOne(8) {
		index.Keys = []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}
	} else {
		for range 1 + r.IntN(2) {
			kind := []query.IndexKind{query.Ascending, query.Descending}[r.IntN(2)]
			index.Keys = append(index.Keys, store.IndexKey{Path: r.path(), Kind: kind})
		}
		index.Unique, index.Sparse = r.isOne(6), r.isOne(4)
	}
	return fmt.Sprintf("index %+v", index), func(ctx context.Context, c store.Collection) (string, error) {
		return "", c.EnsureIndex(ctx, index)
	}
}

func (r randomly) insert() (text string, do Doing) {
	var documents []document.Object
	for range 1 + r.IntN(3) {
		o := document.O(document.IDField, r.IntN(60))
		for _, path := range []string{"a", "b", "n"} {
			if !r.isOne(5) {
				o = o.With(path, r.value(0))
			}
		}
		if r.isOne(3) {
			o = o.With("at", document.A(r.IntN(4), r.IntN(4)))
		}
		if r.isOne(30) { // Longer than a key may be in some databases.
			o = o.With("a", strings.Repeat("long", 1000)+string(rune('a'+r.IntN(3))))
		}
		documents = append(documents, o)
	}
	return fmt.Sprint("insert ", documents), func(ctx context.Context, c store.Collection) (string, error) {
		return "", c.Insert(ctx, documents...)
	}
}

// value returns one of a few random values, so that many are equal.
func (r randomly) value(depth int) any {
	const deepest = 2
	switch r.IntN(11) {
	case 0:
		return nil
	case 1:
		return r.isOne(2)
	case 2, 3, 4:
		return r.IntN(5)
	case 5:
		return float64(r.IntN(8)) / 2
	case 6, 7:
		return string(rune('a' + r.IntN(4)))
	case 8:
		return time.UnixMilli(int64(r.IntN(3)) * 1000).UTC()
	case 9:
		a := document.A()
		for range r.IntN(4) * min(1, deepest-depth) {
			a = a.Append(r.value(depth + 1))
		}
		return a
	default:
		if depth == deepest {
			return "deep"
		}
		return document.O("c", r.value(depth+1))
	}
}

func (r randomly) filter() *query.Filter {
	source := document.O()
	for range r.IntN(3) {
		path := r.path()
		switch r.IntN(8) {
		case 0, 1:
			source = source.With(path, r.value(1))
		case 2:
			source = source.With(path, document.O([]string{"$gt", "$gte", "$lt", "$lte", "$ne"}[r.IntN(5)], r.value(2)))
		case 3:
			source = source.With(path, document.O("$in", document.A(r.value(2), r.value(2))))
		case 4:
			source = source.With(path, document.O("$exists", r.isOne(2)))
		case 5: // Bounds that may contradict each other.
			source = source.With(path, document.O("$gte", r.IntN(4), "$lt", r.IntN(5)))
		case 6:
			source = source.With(document.IDField, document.O("$in", document.A(r.IntN(60), r.IntN(60))))
		default:
			box := document.A(document.A(r.IntN(3), r.IntN(3)), document.A(3, 3))
			source = source.With("at", document.O("$geoWithin", document.O("$box", box)))
		}
	}
	filter, err := query.CompileFilter(source)
	if err != nil {
		return nil
	}
	return filter
}

func (r randomly) order() *query.Sort {
	source := document.O()
	for range r.IntN(3) {
		source = source.With(r.path(), r.direction())
	}
	sort, err := query.CompileSort(source)
	if err != nil {
		return nil
	}
	return sort
}

func (r randomly) change() query.Change {
	update, err := query.CompileUpdate([]document.Object{
		document.O("$set", document.O("a", r.value(0))), document.O("$set", document.O(r.path(), r.value(0))),
		document.O("$inc", document.O("n", 1)), document.O("$unset", document.O("b", true)), document.O("$push", document.O("b", 1)),
	}[r.IntN(5)])
	if err != nil {
		panic(err) // All of them are valid.
	}
	return query.Change{Update: update}
}

func (r randomly) update() (text string, do Doing) {
	filter, change, options := r.filter(), r.change(), store.UpdateOptions{Multi: r.isOne(2)}
	if !options.Multi {
		options.Sort = r.order()
	}
	text = fmt.Sprint("update ", filter.Source(), change.Update.Source(), options.Multi, options.Sort.Source())
	return text, func(ctx context.Context, c store.Collection) (string, error) {
		result, err := c.Update(ctx, filter, change, options)
		return fmt.Sprint(result.Matched, result.Modified, literal(result.UpsertedID)), err
	}
}

func (r randomly) findAndModify() (text string, do Doing) {
	filter, change := r.filter(), r.change()
	options := store.FindAndModifyOptions{Sort: r.order(), New: r.isOne(2)}
	text = fmt.Sprint("find and modify ", filter.Source(), change.Update.Source(), options.Sort.Source(), options.New)
	return text, func(ctx context.Context, c store.Collection) (string, error) {
		result, err := c.FindAndModify(ctx, filter, change, options)
		return fmt.Sprint(literal(result.Document), result.Matched, result.Modified), err
	}
}

func (r randomly) remove() (text string, do Doing) {
	filter, options := r.filter(), store.DeleteOptions{Multi: r.isOne(8)}
	return fmt.Sprint("delete ", filter.Source(), options), func(ctx context.Context, c store.Collection) (string, error) {
		count, err := c.Delete(ctx, filter, options)
		return strconv.FormatInt(count, 10), err
	}
}

func (r randomly) near() (text string, do Doing) {
	source := document.O("near", document.A(r.IntN(4), r.IntN(4)), "key", "at", "spherical", true, "limit", 1+r.IntN(10))
	return fmt.Sprint("near ", source), func(ctx context.Context, c store.Collection) (string, error) {
		search, err := query.CompileGeoNear(source)
		if err != nil {
			return "", err
		}
		found, err := c.GeoNear(ctx, search)
		var text strings.Builder
		for _, one := range found {
			fmt.Fprintln(&text, literal(one.Document), one.Distance)
		}
		return text.String(), err
	}
}

func (r randomly) read() (text string, do Doing) {
	filter := r.filter()
	options := store.FindOptions{Sort: r.order(), Limit: int64(r.IntN(5)), Skip: int64(r.IntN(3))}
	path := r.path()
	text = fmt.Sprint("read ", filter.Source(), options.Sort.Source(), options.Limit, options.Skip, path)
	return text, func(ctx context.Context, c store.Collection) (string, error) {
		found, err := c.Find(ctx, filter, options)
		if err != nil {
			return "", err
		}
		count, err := c.Count(ctx, filter)
		if err != nil {
			return "", err
		}
		values, err := c.Distinct(ctx, path, filter)
		return fmt.Sprint(literals(found), count, literal(document.A(values...))), err
	}
}
