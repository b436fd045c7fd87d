package mongo

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

func queryOf(filter *query.Filter) (bson.Raw, error) {
	source, err := queried(filter)
	if err != nil {
		return nil, err
	}
	return rawConditions(source)
}

// rawConditions encodes filters, joined by $and.
func rawConditions(filters ...document.Object) (_ bson.Raw, err error) {
	size := 16
	for _, filter := range filters {
		size += filter.Size()
	}
	start, b := bsoncore.AppendDocumentStart(make([]byte, 0, size))
	for _, filter := range filters {
		if b, err = appendConditions(b, filter); err != nil {
			return nil, err
		}
	}
	return ended(b, start)
}

// appendConditions appends the conditions of a filter. They are unchanged, except for patterns in lists: the
// server accepts {$regex, $options} only directly on a field, and requires a BSON regular expression in a list.
func appendConditions(b []byte, conditions document.Object) (_ []byte, err error) {
	for key, operand := range conditions.All() {
		if b, err = appendCondition(b, key, operand); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendCondition(b []byte, key string, operand any) ([]byte, error) {
	switch v := operand.(type) {
	case document.Array:
		switch key {
		case "$and", "$or", "$nor", "$in", "$nin", "$all":
			return appendListed(b, key, v)
		}
	case document.Object:
		if key == "$not" || key == "$elemMatch" || !strings.HasPrefix(key, "$") && isOperators(v) {
			start, b := bsoncore.AppendDocumentElementStart(b, key)
			b, err := appendConditions(b, v)
			if err != nil {
				return nil, err
			}
			return bsoncore.AppendDocumentEnd(b, start)
		}
	}
	return appendValue(b, key, operand)
}

// appendListed appends a list of clauses, values or patterns. Values in a list are not operators.
func appendListed(b []byte, key string, list document.Array) (_ []byte, err error) {
	isClauses := key == "$and" || key == "$or" || key == "$nor"
	start, b := bsoncore.AppendArrayElementStart(b, key)
	for i, item := range list.All() {
		o, ok := item.(document.Object)
		pattern, isPattern := o.Value("$regex").(string)
		switch place := strconv.Itoa(i); {
		case ok && !isClauses && isPattern && isOperators(o):
			b = bsoncore.AppendRegexElement(b, place, pattern, regexOptions(o))
		case ok && (isClauses || isOperators(o)):
			inner, inside := bsoncore.AppendDocumentElementStart(b, place)
			if b, err = appendConditions(inside, o); err == nil {
				b, err = bsoncore.AppendDocumentEnd(b, inner)
			}
		default:
			b, err = appendValue(b, place, item)
		}
		if err != nil {
			return nil, boterr.PrefixField(key, err)
		}
	}
	return bsoncore.AppendArrayEnd(b, start)
}

// regexOptions returns the options of a pattern in alphabetical order, because BSON requires this.
func regexOptions(pattern document.Object) string {
	options, _ := pattern.Value("$options").(string)
	letters := []byte(options)
	slices.Sort(letters)
	return string(slices.Compact(letters))
}

// isOperators reports whether an object contains operators, and is not a value. The first name decides.
func isOperators(o document.Object) bool { return o.Len() > 0 && strings.HasPrefix(o.NameAt(0), "$") }

// queried returns the filter for the server. It differs from the caller's only if an $expr uses the whole
// document.
func queried(filter *query.Filter) (document.Object, error) {
	if filter == nil || filter.Source().IsZero() {
		return document.O(), nil
	}
	source, err := withoutHidden(filter.Source())
	return source, boterr.PrefixField("filter", err)
}

// withoutHidden returns InvalidArgument if a filter uses the hidden field. It removes the hidden field from the
// whole document in expressions.
func withoutHidden(source document.Object) (document.Object, error) {
	for key, operand := range source.All() {
		switch {
		case isHidden(key):
			return source, reserved(key)
		case key == "$and", key == "$or", key == "$nor":
			parts, _ := operand.(document.Array)
			items := make([]any, 0, parts.Len())
			for _, part := range parts.All() {
				o, _ := part.(document.Object)
				item, err := withoutHidden(o)
				if err != nil {
					return source, boterr.PrefixField(key, err)
				}
				items = append(items, item)
			}
			source = source.With(key, document.A(items...))
		case key == "$expr":
			expression, err := seenWhole(operand)
			if err != nil {
				return source, boterr.PrefixField(key, err)
			}
			source = source.With(key, expression)
		}
	}
	return source, source.Err()
}

// seenWhole rewrites an expression so that the whole document does not contain the hidden field.
func seenWhole(expression any) (any, error) {
	switch v := expression.(type) {
	case string:
		return variable(v)
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			seen, err := seenWhole(item)
			if err != nil {
				return nil, err
			}
			items = append(items, seen)
		}
		return document.A(items...), nil
	case document.Object:
		if v.Has("$literal") {
			return v, nil
		}
		pairs := make([]any, 0, 2*v.Len())
		for key, value := range v.All() {
			seen, err := seenWhole(value)
			if err != nil {
				return nil, boterr.PrefixField(key, err)
			}
			pairs = append(pairs, key, seen)
		}
		return document.O(pairs...), nil
	default:
		return v, nil
	}
}

// variable does the same as seenWhole for a text, which may be a path or a variable.
func variable(text string) (any, error) {
	if text == "$$ROOT" || text == "$$CURRENT" {
		return document.O("$unsetField", document.O("field", hiddenField, "input", text)), nil
	}
	path := strings.TrimPrefix(strings.TrimPrefix(text, "$$ROOT."), "$$CURRENT.")
	if path = strings.TrimPrefix(path, "$"); len(path) < len(text) && isHidden(path) {
		return nil, reserved(path)
	}
	return text, nil
}

// isHidden reports whether a path is the hidden field or inside it.
func isHidden(path string) bool {
	return path == hiddenField || strings.HasPrefix(path, hiddenField+".")
}

// reserved returns the error for a path to the hidden field.
func reserved(path string) error {
	return boterr.Invalid(path, "the field %s is the store's own; use another name", hiddenField)
}

// isPinned reports whether a filter fixes the _id, so it matches at most one document.
func isPinned(filter *query.Filter) bool {
	if filter == nil || filter.Near() != nil {
		return false
	}
	_, ok := filter.Equality(document.IDField)
	return ok
}

// sorting returns the server's sort for a search: the given sort, then the order of insertion. It is nil if the
// filter matches at most one document, or if a $near without a sort sorts by distance.
func sorting(filter *query.Filter, sort *query.Sort) (bson.D, error) {
	if isPinned(filter) {
		return nil, nil
	}
	if sort.Source().Len() == 0 && filter.Near() != nil {
		return nil, nil
	}
	var order bson.D
	for path, direction := range sort.Source().All() {
		if isHidden(path) {
			return nil, boterr.PrefixField("sort", reserved(path))
		}
		order = append(order, bson.E{Key: path, Value: direction})
		if path == document.IDField {
			return order, nil // Two documents cannot tie.
		}
	}
	return append(order, bson.E{Key: orderPath, Value: 1}), nil
}

// GeoNear implements store.Collection. If the collection has a suitable geo index, the server searches. If it
// has no geo index, this process measures all matching documents.
func (c *collection) GeoNear(ctx context.Context, near *query.GeoNear) ([]query.GeoResult, error) {
	if near == nil {
		return nil, boterr.Invalid("near", "the point to search around is required")
	}
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	indexes, err := c.indexes(ctx)
	if err != nil {
		return nil, err
	}
	near, isServed, err := served(near, indexes)
	if err != nil {
		return nil, err
	}
	var results []found
	if isServed {
		results, err = c.nearest(ctx, near)
	} else {
		results, err = c.find(ctx, near.Filter(), store.FindOptions{})
	}
	if err != nil {
		return nil, err
	}
	return measured(near, results), nil
}

// served adds the field of the collection's geo index to a search that does not name one. isServed is true if
// an index covers the search.
func served(near *query.GeoNear, indexes []storedIndex) (_ *query.GeoNear, isServed bool, err error) {
	var schema engine.Schema
	for _, index := range indexes {
		if len(index.others) == 0 { // Otherwise the index may be partial or hidden.
			schema.Indexes = append(schema.Indexes, engine.NewIndex("", index.Index))
		}
	}
	return schema.NearServed(near)
}

// nearest asks the server for nearby documents. measured computes the distances again, because every
// store must return the same ones, to the last digit.
func (c *collection) nearest(ctx context.Context, near *query.GeoNear) ([]found, error) {
	where, err := queryOf(near.Filter())
	if err != nil {
		return nil, err
	}
	search := bson.D{
		{Key: "key", Value: near.Key()}, {Key: "query", Value: where}, {Key: "distanceField", Value: distancePath},
	}
	for field, value := range near.Source().All() {
		switch field {
		case "near", "spherical", "minDistance", "maxDistance":
			v, err := rawValue(value)
			if err != nil {
				return nil, err
			}
			search = append(search, bson.E{Key: field, Value: v})
		}
	}
	stages := bson.A{bson.D{{Key: "$geoNear", Value: search}}}
	limit := min(near.Limit(), maxDocuments)
	if limit == 0 {
		return c.aggregate(ctx, near, stages)
	}
	results, err := c.aggregate(ctx, near, append(stages, bson.D{{Key: "$limit", Value: limit + 1}}))
	if err != nil || int64(len(results)) <= limit || !isTie(near, results[limit-1], results[limit]) {
		return results, err
	}
	return c.aggregate(ctx, near, append(stages,
		bson.D{{Key: "$sort", Value: bson.D{{Key: distancePath, Value: 1}, {Key: orderPath, Value: 1}}}},
		bson.D{{Key: "$limit", Value: limit}}))
}

// distancePath is the path to which the server writes the distance, to sort by it.
const distancePath = hiddenField + ".distance"

// isTie reports whether two documents have the same distance. The server's order is then undefined.
func isTie(near *query.GeoNear, a, b found) bool {
	first, _ := near.Distance(a.document)
	second, _ := near.Distance(b.document)
	return first == second
}

// aggregate runs an aggregation and returns its results.
func (c *collection) aggregate(ctx context.Context, near *query.GeoNear, stages bson.A) (results []found, err error) {
	cursor, err := c.stored.Aggregate(ctx, stages)
	if err != nil {
		return nil, failure(ctx, near.Filter(), err)
	}
	err = c.readEach(ctx, near.Filter(), cursor, func(result found) error {
		results = append(results, result)
		return nil
	})
	return results, err
}

// measured computes distances and returns the documents that are within range, nearest first.
func measured(near *query.GeoNear, candidates []found) []query.GeoResult {
	type place struct {
		result query.GeoResult
		from   float64
		order  int64
	}
	places := make([]place, 0, len(candidates))
	for _, candidate := range candidates {
		from, _ := near.Distance(candidate.document)
		if result, ok := near.Measure(candidate.document); ok {
			places = append(places, place{result: result, from: from, order: candidate.hidden.order})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.order, b.order))
	})
	if limit := near.Limit(); limit > 0 && int64(len(places)) > limit {
		places = places[:limit]
	}
	results := make([]query.GeoResult, len(places))
	for i := range places {
		results[i] = places[i].result
	}
	return results
}

// orderBits is the number of low bits of a place that identify the process. They distinguish processes that
// insert in the same microsecond.
const orderBits = 10

// orderClock assigns places in the order of insertion to new documents. A place is a microsecond of the
// server's clock, used once per process. New documents follow every document that this process has read or
// knows to exist. Between documents of two processes, the order is accurate to half the time of their fastest
// query.
type orderClock struct {
	now func() time.Time
	own int64

	mutex sync.Mutex
	// The server's clock is ahead of the local one by at least low and at most high. Both bounds were measured at
	// the local time known, which is zero before the first answer.
	low, high time.Duration
	known     time.Time
	last      int64
}

const (
	resolution = time.Millisecond
	// near is the required accuracy before a store inserts. The store asks for the server's time
	// fewestQuestions times, because the first answer includes the time to connect, and up to mostQuestions
	// times if the server is far away.
	near                           = 10 * time.Millisecond
	fewestQuestions, mostQuestions = 2, 5
	// driftIn is the inverse of the assumed drift between two clocks. One second in 5,000 is more than real
	// clocks drift.
	driftIn = 5000
)

func newOrderClock(now func() time.Time) *orderClock {
	var random [2]byte
	_, _ = rand.Read(random[:]) // crypto/rand never fails.
	return &orderClock{now: now, own: int64(binary.LittleEndian.Uint16(random[:])) & (1<<orderBits - 1)}
}

// learn records the server's time told, which was requested at the local time asked and has just arrived. A
// slow answer does not reduce the accuracy that faster answers gave.
func (c *orderClock) learn(asked, told time.Time) {
	answered := c.now()
	low, high := told.Sub(answered), told.Add(resolution).Sub(asked)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	drift := max(0, answered.Sub(c.known)) / driftIn
	nearLow, nearHigh := max(low, c.low-drift), min(high, c.high+drift)
	if nearLow > nearHigh || c.known.IsZero() { // The first answer, or a clock was set.
		nearLow, nearHigh = low, high
	}
	c.low, c.high, c.known = nearLow, nearHigh, answered
}

// ahead returns the estimated lead of the server's clock over the local one.
func (c *orderClock) ahead() time.Duration { return c.low + (c.high-c.low)/2 }

// isNear reports whether the server's clock is known with the accuracy near.
func (c *orderClock) isNear() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.high-c.low <= near
}

// see records a place of another process. All later places follow it.
func (c *orderClock) see(order int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.last = max(c.last, order>>orderBits)
}

// take reserves count consecutive places and returns the first.
func (c *orderClock) take(count int) int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	first := max(c.now().Add(c.ahead()).UnixMicro(), c.last+1)
	c.last = first + int64(count) - 1
	return first<<orderBits | c.own
}

func place(first int64, nth int) int64 { return first + int64(nth)<<orderBits }
