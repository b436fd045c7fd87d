package differential

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
)

// generator makes random cases. Its names and values come from small sets, so that
// filters meet documents and updates meet fields.
type generator struct {
	random *rand.Rand
	// fields are the kinds of the values that the documents have, by field; a few
	// differ.
	fields map[string]fieldKind
	// values and paths are those of the documents made so far.
	values []any
	paths  []string
	// found are the values by path, near those at the path that is being asked for.
	found map[string][]any
	near  []any
	// identifiers are the names of array filters that the update has used so far.
	identifiers []string
}

// newGenerator returns the generator that makes the same cases for the same source.
func newGenerator(source rand.Source) *generator {
	return &generator{random: rand.New(source), found: map[string][]any{}} //nolint:gosec // The numbers choose test cases.
}

// choose picks one of the items.
func choose[T any](g *generator, items ...T) T { return items[g.random.IntN(len(items))] }

// chance reports true once in n.
func (g *generator) chance(n int) bool { return g.random.IntN(n) == 0 }

// makeCase returns a case without what it expects.
func (g *generator) makeCase() document.Object {
	if g.chance(16) {
		return g.indexCase()
	}
	kind := choose(g, "find", "find", "find", "count", "distinct", "update", "update", "update", "findAndModify",
		"findAndModify", "replace")
	documents := g.documents()
	g.note("", documents)
	c := document.O("kind", kind, "docs", documents, "filter", g.filterFor(kind, documents.Len()))
	if g.chance(2) {
		filter, _ := c.Field("filter")
		c = c.With("indexes", g.indexes(queryPaths(filter)))
	}
	switch kind {
	case "find":
		return g.withPage(g.withSort(c))
	case "count":
		return g.withPage(c)
	case "distinct":
		return c.With("key", g.path())
	case "replace":
		return g.withUpsert(c.With("update", g.object(2)))
	case "findAndModify":
		if g.chance(2) {
			c = c.With("new", true)
		}
		return g.withUpsert(g.withSort(g.withUpdate(c)))
	default:
		if g.chance(2) {
			c = c.With("multi", true)
		}
		return g.withUpsert(g.withUpdate(c))
	}
}

// indexCase returns a case in which an index serves two conditions that two elements
// of an array may meet.
func (g *generator) indexCase() document.Object {
	digits := []any{0, 1, 2, 3}
	if g.chance(4) {
		digits = []any{math.NaN(), nil}
	}
	digit := func() any { return choose(g, digits...) }
	list := make([]any, 0, 6)
	for i := range 6 {
		list = append(list, document.O("_id", i+1, "a", document.A(digit(), digit()),
			"d", document.A(document.O("a", digit(), "b", digit()), document.O("a", digit(), "b", digit()))))
	}
	c := document.O("kind", "find", "docs", document.A(list...))
	if g.chance(2) {
		return c.With("indexes", document.A(document.A(document.A("a", choose(g, 1, -1))))).With("filter", document.O("a",
			document.O(choose(g, "$gt", "$gte"), digit(), choose(g, "$lt", "$lte"), digit())))
	}
	return c.With("indexes", document.A(document.A(document.A("d.a", choose(g, 1, -1)), document.A("d.b", 1)))).
		With("filter", document.O("d.a", digit(), "d.b", digit()))
}

// indexes returns indexes, which must change nothing, often on paths that the case asks
// for; lungo does without. All keys but _id are of one field, since MongoDB refuses two
// arrays side by side.
func (g *generator) indexes(asked []string) document.Array {
	list := make([]any, 0, 2)
	for range 1 + g.random.IntN(2) {
		path := g.path()
		if len(asked) > 0 && !g.chance(4) {
			path = choose(g, asked...)
		}
		index := document.A(document.A(path, choose(g, 1, -1)))
		switch field, _, nested := strings.Cut(path, "."); {
		case nested && path != field+".b" && g.chance(2):
			index = index.Append(document.A(field+".b", choose(g, 1, -1)))
		case path != document.IDField && g.chance(3):
			index = index.Append(document.A("_id", choose(g, 1, -1)))
		}
		list = append(list, index)
	}
	return document.A(list...)
}

// filterFor returns a filter. That of an update is often a simple one, so that there
// is something to change.
func (g *generator) filterFor(kind string, documents int) document.Object {
	switch {
	case kind == "find" || kind == "count" || kind == "distinct" || g.chance(3):
		return g.filter(2)
	case g.chance(2):
		return document.O()
	default:
		return document.O("_id", 1+g.random.IntN(documents))
	}
}

// fieldKind is what a field holds in most documents of a case.
type fieldKind int

// The kinds of fields.
const (
	holdsAnything fieldKind = iota
	holdsNumber
	holdsText
	holdsNumbers
	holdsObjects
	holdsFields
	holdsFlag
	holdsTime
	holdsMeasure
	holdsLarge
	holdsScalar
	fieldKinds
)

// fieldNames are the names of the documents' fields.
var fieldNames = []string{"a", "b", "c", "d"}

// documents returns the documents of a collection.
func (g *generator) documents() document.Array {
	g.fields = make(map[string]fieldKind)
	for _, name := range fieldNames {
		g.fields[name] = fieldKind(g.random.IntN(int(fieldKinds)))
	}
	g.fields["d"] = choose(g, holdsNumbers, holdsObjects)
	list := make([]any, 0, 6)
	for i := range 1 + g.random.IntN(6) {
		o := document.O("_id", i+1)
		for _, name := range fieldNames {
			switch {
			case g.chance(6):
			case g.chance(10):
				o = o.With(name, nil)
			case g.chance(8):
				o = o.With(name, g.value(2))
			default:
				o = o.With(name, g.valueOf(g.fields[name]))
			}
		}
		list = append(list, o)
	}
	return document.A(list...)
}

// valueOf returns a value of a kind.
func (g *generator) valueOf(kind fieldKind) any {
	switch kind {
	case holdsNumber:
		return g.number()
	case holdsLarge:
		return choose[any](g, 1<<31-1, 1<<31-1, 1<<31, -1<<31, -1<<31-1, 1<<53, 1<<53+1, 0x1p53, 0x1p31, 1<<62, -1<<62, 0x1p62)
	case holdsScalar:
		return g.scalar()
	case holdsText:
		return choose(g, "", "a", "b", "ab", "A", "10")
	case holdsNumbers:
		items := make([]any, 0, 4)
		for range g.random.IntN(5) {
			items = append(items, choose[any](g, 0, 1, 2, 3, 4, 1.5, 2.5, 2.0))
		}
		return document.A(items...)
	case holdsObjects:
		items := make([]any, 0, 4)
		for range g.random.IntN(4) {
			items = append(items, document.O("a", g.random.IntN(4)).With("b", g.value(1)))
		}
		return document.A(items...)
	case holdsFlag:
		return g.chance(2)
	case holdsTime:
		return g.time()
	case holdsMeasure:
		return choose(g, math.NaN(), math.NaN(), math.NaN(), math.Inf(1), math.Inf(-1), -0.5, 0.0, 2.5, 1e300)
	case holdsFields:
		fields := document.O("a", g.random.IntN(4))
		if g.chance(2) {
			fields = fields.With("b", g.value(1))
		}
		return fields
	default:
		return g.value(3)
	}
}

// note remembers a value and the values within it, with their paths.
func (g *generator) note(path string, value any) {
	switch v := value.(type) {
	case document.Object:
		for key, inner := range v.All() {
			g.note(joined(path, key), inner)
		}
	case document.Array:
		for i, inner := range v.All() {
			if _, isDocument := inner.(document.Object); isDocument && (path == "" || g.chance(2)) {
				g.note(path, inner) // As a path goes through all elements.
			} else {
				g.note(joined(path, strconv.Itoa(i)), inner)
			}
		}
	}
	if path != "" {
		g.values, g.paths = append(g.values, value), append(g.paths, path)
		g.found[path] = append(g.found[path], value)
	}
}

func joined(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}

// operandValue returns a value to compare with: often one that a document has.
func (g *generator) operandValue() any {
	switch {
	case g.chance(12):
		return nil
	case g.chance(40):
		return math.NaN()
	case len(g.near) > 0 && g.chance(2):
		value := choose(g, g.near...)
		if n, ok := value.(int64); ok && g.chance(4) {
			return float64(n)
		}
		return value
	case len(g.values) > 0 && !g.chance(3):
		return choose(g, g.values...)
	default:
		return g.value(2)
	}
}

// value returns a value of at most so many levels.
func (g *generator) value(levels int) any {
	if levels == 0 || g.chance(3) {
		return g.scalar()
	}
	if g.chance(2) {
		return g.object(levels - 1)
	}
	return g.array(levels - 1)
}

// number returns a small integer, at times as a double.
func (g *generator) number() any {
	n := g.random.IntN(7) - 2
	if g.chance(4) {
		return float64(n) + choose(g, 0, 0, 0.5)
	}
	return int64(n)
}

// time returns a time of few, to the millisecond, as far as BSON has it.
func (g *generator) time() time.Time {
	return choose(g, time.Unix(0, 0), time.UnixMilli(-1), time.UnixMilli(1_700_000_000_001), time.Unix(1_700_000_000, 0)).UTC()
}

func (g *generator) scalar() any {
	switch g.random.IntN(12) {
	case 0:
		return nil
	case 1, 6, 7:
		return g.chance(2)
	case 5:
		return choose[any](g, g.time(), g.time(), g.time(), math.NaN(), math.Inf(1), math.Inf(-1))
	case 2:
		return choose(g, "", "a", "b", "ab", "A", "10")
	case 3:
		return choose(g, 0.5, 1.5, -2.5, 3.25, 1.0, 2.0, 1<<53, 1<<31)
	case 4:
		return choose[int64](g, 1<<31-1, 1<<31, 1<<53+1, -1<<31, 1<<40)
	default:
		return g.number()
	}
}

func (g *generator) object(levels int) document.Object {
	o := document.O()
	for range g.random.IntN(3) {
		o = o.With(choose(g, "a", "b", "c", "x"), g.value(levels))
	}
	return o
}

func (g *generator) array(levels int) document.Array {
	items := make([]any, 0, 4)
	for range g.random.IntN(4) {
		items = append(items, g.value(levels))
	}
	return document.A(items...)
}

// path returns a dotted path.
func (g *generator) path() string {
	if len(g.paths) > 0 && g.chance(2) {
		return choose(g, g.paths...)
	}
	parts := []string{choose(g, "a", "a", "a", "b", "c", "_id")}
	for range 2 {
		switch g.random.IntN(6) {
		case 0:
			parts = append(parts, choose(g, "a", "b", "c", "x"))
		case 1:
			parts = append(parts, strconv.Itoa(g.random.IntN(3)))
		}
	}
	return strings.Join(parts, ".")
}

func (g *generator) withSort(c document.Object) document.Object {
	if g.chance(2) {
		return c
	}
	keys := make([]any, 0, 3)
	taken := map[string]bool{document.IDField: true}
	for range 1 + g.random.IntN(2) {
		if path := g.path(); !taken[path] {
			taken[path] = true
			keys = append(keys, document.A(path, choose(g, 1, -1)))
		}
	}
	return c.With("sort", document.A(append(keys, document.A("_id", choose(g, 1, 1, -1)))...))
}

func (g *generator) withPage(c document.Object) document.Object {
	if g.chance(4) {
		c = c.With("skip", g.random.IntN(3))
	}
	if g.chance(4) {
		c = c.With("limit", 1+g.random.IntN(3))
	}
	return c
}

func (g *generator) withUpsert(c document.Object) document.Object {
	if g.chance(3) {
		return c.With("upsert", true)
	}
	return c
}
