package query

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Compiler compiles filters, updates, sorts and projections, and caches some hundred of the last
// ones. Finding a compiled one takes less than compiling it, and a filter that was used before
// knows where its fields stand in the documents of a store.
//
// The zero Compiler is ready, and so is a nil one, which remembers nothing. It is safe
// for concurrent use, and what it needs in memory is bounded.
type Compiler struct {
	once        sync.Once
	seed        maphash.Seed
	filters     cache[*Filter]
	updates     cache[*Update]
	sorts       cache[*Sort]
	projections cache[*Projection]
}

// Filter is CompileFilter. A filter on one field alone, such as an _id, is compiled each
// time, which takes no longer than looking for it.
func (c *Compiler) Filter(source document.Object) (*Filter, error) {
	if isOneField(source) || !c.remembers(source) {
		return CompileFilter(source)
	}
	return c.filters.get(c.hash(source), func() (*Filter, error) { return CompileFilter(source) }, source)
}

// FilterWhere is Filter, narrowed as by Filter.Where. What names a record is compiled in one step.
func (c *Compiler) FilterWhere(source document.Object, fields ...FieldValue) (*Filter, error) {
	if len(fields) > 0 && namesRecord(source) && checkSource(source) == nil {
		return compileRecord(source, fields), nil
	}
	filter, err := c.Filter(source)
	if err != nil {
		return nil, err
	}
	return filter.Where(fields...), nil
}

// Update is CompileUpdate.
func (c *Compiler) Update(source document.Object, arrayFilters ...document.Object) (*Update, error) {
	var room [4]document.Object
	sources := append(append(room[:0], source), arrayFilters...)
	if !c.remembers(sources...) {
		return CompileUpdate(source, arrayFilters...)
	}
	compile := func() (*Update, error) { return CompileUpdate(source, arrayFilters...) }
	return c.updates.get(c.hash(sources...), compile, sources...)
}

// Sort is CompileSort.
func (c *Compiler) Sort(source document.Object) (*Sort, error) {
	if !c.remembers(source) {
		return CompileSort(source)
	}
	return c.sorts.get(c.hash(source), func() (*Sort, error) { return CompileSort(source) }, source)
}

// Projection is CompileProjection.
func (c *Compiler) Projection(source document.Object) (*Projection, error) {
	if !c.remembers(source) {
		return CompileProjection(source)
	}
	return c.projections.get(c.hash(source), func() (*Projection, error) { return CompileProjection(source) }, source)
}

// maxSourceSize is the size up to which sources are cached: comparing a larger one takes as long as
// compiling it.
const maxSourceSize = 2048

func (c *Compiler) remembers(sources ...document.Object) bool {
	if c == nil {
		return false
	}
	size := 0
	for _, source := range sources {
		if source.Err() != nil {
			return false
		}
		size += source.Size()
	}
	return size <= maxSourceSize && !slices.ContainsFunc(sources, func(o document.Object) bool { return mayRepeat(o) })
}

// mayRepeat reports whether a value holds a text that may be a pattern with a counted
// repetition, such as "a{900}": what is compiled of it may be a thousand times larger.
func mayRepeat(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.ContainsRune(v, '{')
	case document.Object:
		for _, inner := range v.All() {
			if mayRepeat(inner) {
				return true
			}
		}
	case document.Array:
		return slices.ContainsFunc(v.Items(), mayRepeat)
	}
	return false
}

// hash returns a hash of documents that is the same for those that are identical.
func (c *Compiler) hash(sources ...document.Object) uint64 {
	c.once.Do(func() { c.seed = maphash.MakeSeed() })
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, source := range sources {
		hashObject(&h, source)
	}
	return h.Sum64()
}

// A Hash never fails.
func hashObject(h *maphash.Hash, o document.Object) {
	for key, value := range o.All() {
		_, _ = h.WriteString(key)
		hashValue(h, value)
	}
	_ = h.WriteByte(document.KeyEnd)
}

func hashValue(h *maphash.Hash, value any) {
	_ = h.WriteByte(byte(document.ClassOf(value)))
	switch v := value.(type) {
	case document.Object:
		hashObject(h, v)
	case document.Array:
		for _, item := range v.Items() {
			hashValue(h, item)
		}
		_ = h.WriteByte(document.KeyEnd)
	case string:
		_, _ = h.WriteString(v)
	case int64:
		hashBits(h, uint64(v))
	case float64:
		hashBits(h, math.Float64bits(v))
	case time.Time:
		hashBits(h, uint64(v.UnixMilli()))
	case bool:
		if v {
			_ = h.WriteByte(1)
		}
	}
}

func hashBits(h *maphash.Hash, bits uint64) {
	var buffer [8]byte
	_, _ = h.Write(binary.LittleEndian.AppendUint64(buffer[:0], bits))
}

// cache holds what was compiled, each in the slot that the hash of its sources gives. A later one
// evicts the one in its slot.
type cache[T any] struct {
	// slots are made for the first one: most programs that are short compile few kinds of things.
	slots atomic.Pointer[cacheSlots[T]]
}

type cacheSlots[T any] [256]atomic.Pointer[compiled[T]]

// slot returns the slot of a hash.
func (r *cache[T]) slot(hash uint64) *atomic.Pointer[compiled[T]] {
	slots := r.slots.Load()
	if slots == nil {
		r.slots.CompareAndSwap(nil, &cacheSlots[T]{})
		slots = r.slots.Load()
	}
	return &slots[hash%uint64(len(slots))]
}

// compiled is what was compiled of documents.
type compiled[T any] struct {
	hash    uint64
	sources []document.Object
	// room is that of sources while there is one.
	room   [1]document.Object
	result T
}

// get returns what was compiled of the same sources, or compiles them.
func (r *cache[T]) get(hash uint64, compile func() (T, error), sources ...document.Object) (T, error) {
	place := r.slot(hash)
	if known := place.Load(); known != nil && known.hash == hash && sameSources(known.sources, sources) {
		return known.result, nil
	}
	result, err := compile()
	if err == nil {
		kept := &compiled[T]{hash: hash, result: result}
		kept.sources = append(kept.room[:0], sources...)
		place.Store(kept)
	}
	return result, err
}

func sameSources(a, b []document.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].IsZero() != b[i].IsZero() || !document.Identical(a[i], b[i]) {
			return false
		}
	}
	return true
}
