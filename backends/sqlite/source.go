package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// source is the content of a collection through a connection.
type source struct {
	ctx        context.Context //nolint:containedctx // It belongs to the one call that the source serves.
	conn       *conn
	collection *collection
	schema     *engine.Schema
	// release releases the connection.
	release func()
	// inGroup is true for the writer, which sees the changes of its group.
	inGroup bool
	// isBegun is true once a transaction gives all statements the same snapshot.
	isBegun bool
}

var _ engine.Source = (*source)(nil)

// Close implements engine.Source. Closing it again does nothing.
func (s *source) Close() {
	if s.isBegun {
		_, _ = s.conn.exec("COMMIT") // The transaction has only read.
		s.isBegun = false
	}
	if s.release != nil {
		s.release()
		s.release = nil
	}
}

// begin makes the following statements see one snapshot.
func (s *source) begin() error {
	if s.inGroup || s.isBegun {
		return nil
	}
	_, err := s.conn.exec("BEGIN")
	s.isBegun = err == nil
	return err
}

// End implements engine.Source. The end of a collection with many documents removed is far above their number, so
// the file does not tell it to readers.
func (s *source) End() uint64 { return 1 << 62 }

// errOutdated ends a read if its indexes have grown since it was planned, for example by a first array.
var errOutdated = boterr.New(boterr.Internal, "", "the indexes have grown since the read was planned")

// planned returns the error of a search by an index, or errOutdated. A writer publishes that an index has grown
// before it commits, so a search that sees the commit sees that, too.
func (s *source) planned(err error) error {
	if err == nil && !s.inGroup && s.schema != s.collection.schema.Load() {
		return errOutdated
	}
	return err
}

// again repeats a read while it is outdated.
func again[T any](read func() (T, error)) (T, error) {
	for {
		if result, err := read(); err != errOutdated { //nolint:errorlint // It comes as it is.
			return result, err
		}
	}
}

// reading is a collection that repeats outdated reads.
type reading struct{ *engine.Collection }

// Find implements store.Collection.
func (r reading) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	return again(func() ([]document.Object, error) { return r.Collection.Find(ctx, filter, options) })
}

// Count implements store.Collection.
func (r reading) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return again(func() (int64, error) { return r.Collection.Count(ctx, filter) })
}

// Distinct implements store.Collection.
func (r reading) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return again(func() ([]any, error) { return r.Collection.Distinct(ctx, path, filter) })
}

// GeoNear implements store.Collection.
func (r reading) GeoNear(ctx context.Context, near *query.GeoNear) ([]query.GeoResult, error) {
	return again(func() ([]query.GeoResult, error) { return r.Collection.GeoNear(ctx, near) })
}

// Explain is Find, and describes how it finds the documents.
func (r reading) Explain(ctx context.Context, filter *query.Filter, options store.FindOptions) (store.Explanation, error) {
	return again(func() (store.Explanation, error) { return r.Collection.Explain(ctx, filter, options) })
}

// Len implements engine.Source.
func (s *source) Len() (int64, error) { return s.conn.number(s.ctx, s.collection.texts.count) }

// ByID implements engine.Source.
func (s *source) ByID(id any) (found engine.Placed, exists bool, err error) {
	key := document.AppendKey(nil, id)
	if s.inGroup {
		if known, ok := s.collection.overlay[string(key)]; ok {
			return engine.Placed{Document: known.document, Position: known.position}, !known.document.IsZero(), nil
		}
	}
	var commits uint64
	if !s.isBegun {
		known, ok, seen := s.collection.cache.get(key)
		if ok {
			return engine.Placed{Document: known.document, Position: known.position}, true, nil
		}
		commits = seen
	}
	read, err := s.read(key)
	if err != nil || read.document.IsZero() {
		return found, false, err
	}
	if !s.inGroup && !s.isBegun {
		s.collection.cache.put(key, read, commits)
	}
	return engine.Placed{Document: read.document, Position: read.position}, true, nil
}

// read reads the document whose _id has a key, the zero cached if there is none.
func (s *source) read(key []byte) (read cached, err error) {
	var sealed sql.RawBytes
	err = s.conn.query(context.Background(), func(rows *sql.Rows) (bool, error) {
		if err := scan(rows, &read.position, &sealed); err != nil {
			return false, err
		}
		read.size = len(sealed)
		read.document, err = s.conn.open(read.position, sealed)
		return false, err
	}, s.collection.texts.byID, key)
	return read, err
}

// ByIDs implements engine.Source.
func (s *source) ByIDs(keys []query.KeyRange, to engine.Visitor) error {
	if err := s.begin(); err != nil {
		return err
	}
	var found []cached
	for _, key := range keys {
		read, err := s.read(key.From)
		if err != nil {
			return err
		}
		if !read.document.IsZero() {
			found = append(found, read)
		}
	}
	slices.SortFunc(found, func(a, b cached) int { return cmp.Compare(a.position, b.position) })
	found = slices.CompactFunc(found, func(a, b cached) bool { return a.position == b.position })
	for _, read := range found {
		if !to.Visit(read.position, read.document) {
			return nil
		}
	}
	return nil
}

// ByKey implements engine.Source.
func (s *source) ByKey(index int, filter *query.Filter, limit int64) (found []document.Object, isKey bool, err error) {
	x := &s.schema.Indexes[index]
	key, isKey := x.AppendKeyOf(nil, filter)
	if !isKey {
		return nil, false, nil
	}
	found = []document.Object{}
	_, err = s.visit(engine.Yield(func(_ uint64, o document.Object) bool {
		found = append(found, o)
		return int64(len(found)) != limit
	}), s.collection.texts.table(x.Spec.Unique).byKey, x.Number, key)
	return found, true, s.planned(err)
}

// visit visits the documents that a statement yields, and reports whether the search continues.
func (s *source) visit(to engine.Visitor, text string, arguments ...any) (goOn bool, err error) {
	goOn = true
	var sealed sql.RawBytes
	err = s.conn.query(context.Background(), func(rows *sql.Rows) (bool, error) {
		var position uint64
		if err := scan(rows, &position, &sealed); err != nil {
			return false, err
		}
		o, err := s.conn.open(position, sealed)
		if err != nil {
			return false, err
		}
		goOn = to.Visit(position, o)
		return goOn, nil
	}, text, arguments...)
	return goOn, err
}

// Batches implements engine.Source. The first batches are small, for searches that end soon.
func (s *source) Batches(hint int64, to engine.BatchVisitor) error {
	size := query.BatchSize
	if hint > 0 {
		size = int(min(hint, query.BatchSize))
	}
	b := engine.Batch{}
	goOn, err := s.visit(engine.Yield(func(position uint64, o document.Object) bool {
		b.Documents, b.Positions = append(b.Documents, o), append(b.Positions, position)
		if len(b.Documents) < size {
			return true
		}
		size = min(2*size, query.BatchSize)
		return flush(&b, to)
	}), s.collection.texts.all)
	if err == nil && goOn && len(b.Documents) > 0 {
		flush(&b, to)
	}
	return err
}

// flush passes a batch on and empties it.
func flush(b *engine.Batch, to engine.BatchVisitor) bool {
	b.Used = uint32(1<<len(b.Documents) - 1)
	goOn := to.VisitBatch(b)
	b.Documents, b.Positions = b.Documents[:0], b.Positions[:0]
	return goOn
}

// ranged is a part of an index: one range of its keys, or all of them.
type ranged struct {
	*rangeTexts

	arguments []any
}

// parts returns the parts of an index that a Range asks for, in ascending order.
func (s *source) parts(r *engine.Range) []ranged {
	x := &s.schema.Indexes[r.Index]
	texts := s.collection.texts.table(x.Spec.Unique)
	if r.All {
		return []ranged{{&texts.whole, []any{x.Number}}}
	}
	parts := make([]ranged, 0, len(r.Keys))
	for _, keys := range r.Keys {
		parts = append(parts, ranged{&texts.part, []any{x.Number, keys.From, keys.To}})
	}
	return parts
}

// Range implements engine.Source.
func (s *source) Range(r engine.Range, to engine.Visitor) error {
	return s.planned(s.visitRange(r, to))
}

func (s *source) visitRange(r engine.Range, to engine.Visitor) error {
	if r.OneKey {
		x := &s.schema.Indexes[r.Index]
		_, err := s.visit(to, s.collection.texts.table(x.Spec.Unique).byKey, x.Number, r.Keys[0].From)
		return err
	}
	parts := s.parts(&r)
	if len(parts) > 1 || !r.Sorted {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if !r.Sorted {
		var positions []uint64
		for _, part := range parts {
			var err error
			if positions, err = s.positions(positions, part); err != nil {
				return err
			}
		}
		return s.at(positions, to)
	}
	if r.Backward {
		slices.Reverse(parts)
	}
	for _, part := range parts {
		text := part.up
		if r.Backward {
			text = part.down
		}
		if goOn, err := s.visit(to, text, part.arguments...); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// positions appends the positions of the documents in a part of an index.
func (s *source) positions(positions []uint64, part ranged) ([]uint64, error) {
	err := s.conn.query(context.Background(), func(rows *sql.Rows) (bool, error) {
		var position uint64
		err := scan(rows, &position)
		positions = append(positions, position)
		if err == nil && len(positions)%checkEvery == 0 {
			err = engine.CheckEnded(s.ctx)
		}
		return true, err
	}, part.positions, part.arguments...)
	return positions, err
}

// checkEvery is the number of entries between two checks of the context.
const checkEvery = 4096

// at visits the documents at positions, in their order, each once.
func (s *source) at(positions []uint64, to engine.Visitor) error {
	slices.Sort(positions)
	for _, position := range slices.Compact(positions) {
		if goOn, err := s.visit(to, s.collection.texts.byPosition, position); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// CountRange implements engine.Source.
func (s *source) CountRange(r engine.Range) (count int64, err error) {
	parts := s.parts(&r)
	if len(parts) > 1 {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	for _, part := range parts {
		n, err := s.conn.number(s.ctx, part.count, part.arguments...)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, s.planned(nil)
}

// Cells implements engine.Source.
func (s *source) Cells(index, key int, ranges []engine.CellRange, to engine.Visitor) error {
	if err := s.begin(); err != nil {
		return err
	}
	number := s.schema.Indexes[index].GeoNumber(key)
	var positions []uint64
	for _, r := range ranges {
		var err error
		positions, err = s.positions(positions, ranged{
			&s.collection.texts.table(false).part,
			[]any{number, engine.CellKey(r.Low), query.KeyAfter(engine.CellKey(r.High))},
		})
		if err != nil {
			return err
		}
	}
	return s.planned(s.at(positions, to))
}

// Around implements engine.Source.
func (s *source) Around(index, key int, cell uint64, n int) (cells []uint64, err error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	texts := s.collection.texts.table(false)
	number := s.schema.Indexes[index].GeoNumber(key)
	for _, text := range []string{texts.above, texts.below} {
		err := s.conn.query(context.Background(), func(rows *sql.Rows) (bool, error) {
			var key []byte
			err := scan(rows, &key)
			cells = append(cells, engine.CellOf(key))
			return true, err
		}, text, number, engine.CellKey(cell), n)
		if err != nil {
			return nil, err
		}
	}
	return cells, s.planned(nil)
}

// nothing is the content of a collection that does not exist.
type nothing struct{}

var _ engine.Source = nothing{}

func (nothing) Close()                                                   {}
func (nothing) End() uint64                                              { return 0 }
func (nothing) Len() (int64, error)                                      { return 0, nil }
func (nothing) ByID(any) (engine.Placed, bool, error)                    { return engine.Placed{}, false, nil }
func (nothing) ByIDs([]query.KeyRange, engine.Visitor) error             { return nil }
func (nothing) Batches(int64, engine.BatchVisitor) error                 { return nil }
func (nothing) Range(engine.Range, engine.Visitor) error                 { return nil }
func (nothing) CountRange(engine.Range) (int64, error)                   { return 0, nil }
func (nothing) Cells(int, int, []engine.CellRange, engine.Visitor) error { return nil }
func (nothing) Around(int, int, uint64, int) ([]uint64, error)           { return nil, nil }
func (nothing) ByKey(int, *query.Filter, int64) ([]document.Object, bool, error) {
	return nil, false, nil
}
