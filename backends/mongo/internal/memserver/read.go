package memserver

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// orderPath is the path by which ties are sorted, in reverse order. The reverse order exposes callers that rely on
// an order without a sort.
const orderPath = "_botctx.order"

func filterOf(d bson.D, key string) (*query.Filter, error) {
	source, _ := fieldOf[bson.D](d, key)
	if err := checkLists(source); err != nil {
		return nil, err
	}
	return query.CompileFilter(objectOf(source))
}

// checkLists refuses operators inside lists. MongoDB does not accept them, although package query accepts a
// pattern there.
func checkLists(conditions bson.D) error {
	for _, e := range conditions {
		if err := checkList(e.Key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

func checkList(key string, operand any) error {
	switch v := operand.(type) {
	case bson.D:
		if key == "$not" || key == "$elemMatch" || !strings.HasPrefix(key, "$") && isOperators(v) {
			return checkLists(v)
		}
	case bson.A:
		for _, item := range v {
			o, _ := item.(bson.D)
			if err := checkListed(key, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkListed(operator string, o bson.D) error {
	switch operator {
	case "$and", "$or", "$nor":
		return checkLists(o)
	case "$in", "$nin", "$all":
		if isOperators(o) && o[0].Key != "$elemMatch" {
			return commandError{codeBadValue, "cannot nest $ under " + operator}
		}
		if isOperators(o) {
			return checkLists(o)
		}
	}
	return nil
}

func isOperators(d bson.D) bool { return len(d) > 0 && strings.HasPrefix(d[0].Key, "$") }

// sortOf returns the sort of a search. It is nil for a $near without a sort, which is sorted by distance.
func sortOf(d bson.D, filter *query.Filter) (*query.Sort, error) {
	keys, ok := fieldOf[bson.D](d, "sort")
	if !ok && filter.Near() != nil {
		return nil, nil
	}
	if _, ok := fieldOf[any](keys, orderPath); !ok {
		keys = append(slices.Clone(keys), bson.E{Key: orderPath, Value: -1})
	}
	return query.CompileSort(objectOf(keys))
}

func find(r *request) (bson.D, error) {
	filter, err := filterOf(r.command, "filter")
	if err != nil {
		return nil, err
	}
	order, err := sortOf(r.command, filter)
	if err != nil {
		return nil, err
	}
	shape, _ := fieldOf[bson.D](r.command, "projection")
	projection, err := query.CompileProjection(objectOf(shape))
	if err != nil {
		return nil, err
	}
	limit := numberOf(r.command, "limit")
	if limit < 0 {
		return nil, commandError{codeBadValue, "the limit is negative"}
	}
	found, err := r.collection.Find(r.ctx, filter, store.FindOptions{
		Sort: order, Skip: numberOf(r.command, "skip"), Limit: limit, Projection: projection,
	})
	if err != nil {
		return nil, err
	}
	return r.cursor(found, r.command)
}

// aggregate carries out a count or a search by distance. The driver and package mongo use no other
// aggregations.
func aggregate(r *request) (bson.D, error) {
	stages, _ := fieldOf[bson.A](r.command, "pipeline")
	var documents []document.Object
	for i, stage := range stages {
		operator, _ := stage.(bson.D)
		var err error
		switch {
		case i == 0 && operator[0].Key == "$match":
			documents, err = r.match(operator)
		case i == 0 && operator[0].Key == "$geoNear":
			documents, err = r.near(operator)
		case operator[0].Key == "$sort":
			documents, err = r.sorted(documents, operator)
		case operator[0].Key == "$limit":
			documents = documents[:min(int64(len(documents)), numberOf(operator, "$limit"))]
		case operator[0].Key == "$group" && len(documents) == 0:
		case operator[0].Key == "$group":
			documents = []document.Object{document.O("_id", 1, "n", len(documents))}
		default:
			err = commandError{40324, "Unrecognized pipeline stage name: '" + operator[0].Key + "'"}
		}
		if err != nil {
			return nil, err
		}
	}
	options, _ := fieldOf[bson.D](r.command, "cursor")
	return r.cursor(documents, options)
}

func (r *request) match(stage bson.D) ([]document.Object, error) {
	filter, err := filterOf(stage, "$match")
	if err != nil {
		return nil, err
	}
	if filter.Near() != nil {
		return nil, commandError{codeBadValue, "$geoNear, $near, and $nearSphere are not allowed in this context"}
	}
	return r.collection.Find(r.ctx, filter, store.FindOptions{})
}

// near searches by distance. Ties come in reverse order of insertion.
func (r *request) near(stage bson.D) ([]document.Object, error) {
	source, _ := fieldOf[bson.D](stage, "$geoNear")
	known := []string{"near", "key", "query", "distanceField", "spherical", "minDistance", "maxDistance"}
	if err := onlyFields(source, "$geoNear", known); err != nil {
		return nil, err
	}
	search, err := query.CompileGeoNear(objectOf(source))
	if err != nil {
		return nil, err
	}
	found, err := r.collection.GeoNear(r.ctx, search)
	if err != nil {
		return nil, err
	}
	slices.Reverse(found)
	slices.SortStableFunc(found, func(a, b query.GeoResult) int { return document.Compare(a.Distance, b.Distance) })
	documents := make([]document.Object, 0, len(found))
	for _, result := range found {
		documents = append(documents, result.Document)
	}
	return documents, nil
}

func (r *request) sorted(documents []document.Object, stage bson.D) ([]document.Object, error) {
	keys, _ := fieldOf[bson.D](stage, "$sort")
	order, err := query.CompileSort(objectOf(keys))
	if err != nil {
		return nil, err
	}
	sorting := query.NewEvaluation(r.ctx)
	for _, o := range documents {
		sorting.Visit(o)
	}
	sorting.Sort(order, documents)
	return documents, sorting.Err()
}

// cursor returns the first documents. The rest is kept for the client's next requests.
func (r *request) cursor(documents []document.Object, options bson.D) (bson.D, error) {
	waiting := make([]bson.Raw, 0, len(documents))
	for _, o := range documents {
		b, err := bson.Marshal(documentOf(o))
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, b)
	}
	size := numberOf(options, "batchSize")
	if size == 0 {
		size = 101
	}
	batch, rest := cut(waiting, size)
	id := int64(0)
	if len(rest) > 0 && !truthOf(options, "singleBatch") {
		r.server.mutex.Lock()
		r.server.lastCursor++
		id = r.server.lastCursor
		r.server.cursors[id] = rest
		r.server.mutex.Unlock()
	}
	return r.batch("firstBatch", batch, id), nil
}

// cut splits off at most size documents, and no more than fit into an answer.
func cut(documents []bson.Raw, size int64) (batch, rest []bson.Raw) {
	bytes := 0
	for i, b := range documents {
		bytes += len(b)
		if int64(i) == size || i > 0 && bytes > document.MaxSize {
			return documents[:i], documents[i:]
		}
	}
	return documents, nil
}

func (r *request) batch(name string, batch []bson.Raw, id int64) bson.D {
	if batch == nil {
		batch = []bson.Raw{}
	}
	base, _ := fieldOf[string](r.command, "$db")
	return bson.D{{Key: "cursor", Value: bson.D{
		{Key: name, Value: batch}, {Key: "id", Value: id}, {Key: "ns", Value: base + "." + r.name},
	}}}
}

func getMore(r *request) (bson.D, error) {
	id, _ := r.command[0].Value.(int64)
	r.name, _ = fieldOf[string](r.command, "collection")
	size := numberOf(r.command, "batchSize")
	if size == 0 {
		size = math.MaxInt64
	}
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	waiting, ok := r.server.cursors[id]
	if !ok {
		return nil, commandError{43, "cursor not found"}
	}
	batch, rest := cut(waiting, size)
	r.server.cursors[id] = rest
	if len(rest) == 0 {
		delete(r.server.cursors, id)
		id = 0
	}
	return r.batch("nextBatch", batch, id), nil
}

func killCursors(r *request) (bson.D, error) {
	ids, _ := fieldOf[bson.A](r.command, "cursors")
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	for _, id := range ids {
		number, _ := id.(int64)
		delete(r.server.cursors, number)
	}
	return bson.D{{Key: "cursorsKilled", Value: ids}}, nil
}

// idPrefix marks texts that represent object ids, because package document has no type for these.
const idPrefix = "\x00ObjectID "

// valueOf converts a BSON value to a value of package document.
func valueOf(value any) any {
	switch v := value.(type) {
	case bson.D:
		return objectOf(v)
	case bson.A:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = valueOf(item)
		}
		return document.A(items...)
	case bson.ObjectID:
		return idPrefix + v.Hex()
	case bson.DateTime:
		return v.Time()
	case bson.Regex:
		return document.O("$regex", v.Pattern, "$options", v.Options)
	case int32:
		return int64(v)
	case int64:
		if v == int64(int32(v)) {
			return float64(v) // MongoDB has two types here, and package document has one.
		}
		return v
	default:
		return v
	}
}

func objectOf(d bson.D) document.Object {
	pairs := make([]any, 0, 2*len(d))
	for _, e := range d {
		pairs = append(pairs, e.Key, valueOf(e.Value))
	}
	return document.O(pairs...)
}

// bsonOf converts a value to BSON. It is the inverse of valueOf. Integers are as short as possible, as clients
// should send them.
func bsonOf(value any) any {
	switch v := value.(type) {
	case document.Object:
		return documentOf(v)
	case document.Array:
		items := make(bson.A, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, bsonOf(item))
		}
		return items
	case string:
		if hex, ok := strings.CutPrefix(v, idPrefix); ok {
			if id, err := bson.ObjectIDFromHex(hex); err == nil {
				return id
			}
		}
		return v
	case time.Time:
		return bson.NewDateTimeFromTime(v)
	case int64:
		if short := int32(v); int64(short) == v {
			return short
		}
		return v
	default:
		return v
	}
}

func documentOf(o document.Object) bson.D {
	d := make(bson.D, 0, o.Len())
	for key, value := range o.All() {
		d = append(d, bson.E{Key: key, Value: bsonOf(value)})
	}
	return d
}

// fieldOf returns a field of a document. ok is false if the field is missing or has another type.
func fieldOf[T any](d bson.D, key string) (value T, ok bool) {
	for _, e := range d {
		if e.Key == key {
			value, ok = e.Value.(T)
			return value, ok
		}
	}
	return value, false
}

// numberOf returns an integer field, or 0 if there is none.
func numberOf(d bson.D, key string) int64 {
	if short, ok := fieldOf[int32](d, key); ok {
		return int64(short)
	}
	long, _ := fieldOf[int64](d, key)
	return long
}

// truthOf returns a boolean field, or false if there is none.
func truthOf(d bson.D, key string) bool {
	truth, _ := fieldOf[bool](d, key)
	return truth
}
