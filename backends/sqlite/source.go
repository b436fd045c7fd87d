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
)

// source reads a collection through a connection.
type source struct {
	ctx        context.Context //nolint:containedctx // A source lives for one call.
	conn       *conn
	collection *collection
	schema     *engine.Schema
	// release ends the use of conn.
	release func()
	// inGroup is true for the writer, which also sees the uncommitted changes of its group.
	inGroup bool
	// isBegun is true after a transaction was started, in which all statements see the same snapshot.
	isBegun bool
}

var _ engine.Source = (*source)(nil)

// Close implements engine.Source. A second call does nothing.
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

// begin makes all following statements see the same snapshot.
func (s *source) begin() error {
	if s.inGroup || s.isBegun {
		return nil
	}
	_, err := s.conn.exec("BEGIN")
	s.isBegun = err == nil
	return err
}

// errOutdated ends a search whose indexes have changed since it was planned, for example because a write has added
// the first array to an index.
var errOutdated = boterr.New(boterr.Internal, "", "the indexes have grown since the read was planned")

// planned returns err, or errOutdated if the indexes have changed since the search was planned. The writer
// publishes such a change before the commit, so a search that sees the commit also sees the change.
func (s *source) planned(err error) error {
	if err == nil && !s.inGroup && s.schema != s.collection.schema.Load() {
		return errOutdated
	}
	return err
}

func (s *source) Len() (int64, error) { return s.conn.number(s.ctx, s.collection.texts.count) }

func (s *source) ByID(id any) (found engine.Placed, exists bool, err error) {
	key := document.AppendKey(nil, id)
	if s.inGroup {
		if known, ok := s.collection.overlay[string(key)]; ok {
			return known, !known.Document.IsZero(), nil
		}
	}
	var commits uint64
	if !s.isBegun {
		known, ok, seen := s.collection.cache.get(key)
		if ok {
			return known, true, nil
		}
		commits = seen
	}
	read, err := s.one(s.collection.texts.byID, key)
	if err != nil || read.Document.IsZero() {
		return found, false, err
	}
	if !s.inGroup && !s.isBegun {
		s.collection.cache.put(key, read, commits)
	}
	return read, true, nil
}

// one returns the document of a statement's result, or the zero Placed if there is none.
func (s *source) one(text string, argument any) (found engine.Placed, err error) {
	_, err = s.visit(engine.Yield(func(position uint64, o document.Object) bool {
		found = engine.Placed{Document: o, Position: position}
		return false
	}), text, argument)
	return found, err
}

func (s *source) ByIDs(keys []query.KeyRange, to engine.Visitor) error {
	if err := s.begin(); err != nil {
		return err
	}
	if len(keys) > fewIDs {
		return s.byManyIDs(keys, to)
	}
	var found []engine.Placed
	for _, key := range keys {
		read, err := s.one(s.collection.texts.byID, key.From)
		if err != nil {
			return err
		}
		if !read.Document.IsZero() {
			found = append(found, read)
		}
	}
	slices.SortFunc(found, func(a, b engine.Placed) int { return cmp.Compare(a.Position, b.Position) })
	found = slices.CompactFunc(found, func(a, b engine.Placed) bool { return a.Position == b.Position })
	for _, read := range found {
		if !to.Visit(read.Position, read.Document) {
			return nil
		}
	}
	return nil
}

// fewIDs is the number of _ids up to which ByIDs holds all documents in memory at once.
const fewIDs = 32

// byManyIDs is ByIDs for a list of any length. It holds only the positions of the documents.
func (s *source) byManyIDs(keys []query.KeyRange, to engine.Visitor) (err error) {
	var positions []uint64
	for i, key := range keys {
		if positions, err = s.addPositions(positions, i, s.collection.texts.place, key.From); err != nil {
			return err
		}
	}
	return s.visitPositions(positions, to)
}

// addPositions adds the positions that a statement finds. number counts the earlier statements of the search.
func (s *source) addPositions(positions []uint64, number int, text string, arguments ...any) ([]uint64, error) {
	query.AddWork(s.ctx, statementWork)
	if err := s.look(number); err != nil {
		return nil, err
	}
	err := s.conn.query(context.Background(), func(rows *sql.Rows) (bool, error) {
		var position uint64
		err := scan(rows, &position)
		positions = append(positions, position)
		if err == nil && len(positions)%checkEvery == 0 {
			err = engine.CheckEnded(s.ctx)
		}
		return true, err
	}, text, arguments...)
	return positions, err
}

// visitPositions visits the documents at these positions in the order of insertion, once each.
func (s *source) visitPositions(positions []uint64, to engine.Visitor) error {
	slices.Sort(positions)
	for _, position := range slices.Compact(positions) {
		if goOn, err := s.visit(to, s.collection.texts.byPosition, position); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// The work of a statement and of reading and writing a document, in nanoseconds, for query.AddWork.
const (
	statementWork = 1 << 13
	openWork      = 1 << 12
	writeWork     = 1 << 15
)

// visit passes the documents of a statement's result to a visitor. It returns false if the visitor is done.
func (s *source) visit(to engine.Visitor, text string, arguments ...any) (goOn bool, err error) {
	goOn = true
	work := statementWork
	defer func() { query.AddWork(s.ctx, work) }()
	var sealed sql.RawBytes
	err = s.conn.query(context.Background(), func(rows *sql.Rows) (bool, error) {
		var position uint64
		if err := scan(rows, &position, &sealed); err != nil {
			return false, err
		}
		work += openWork
		o, err := s.conn.open(position, sealed)
		if err != nil {
			return false, err
		}
		goOn = to.Visit(position, o)
		return goOn, nil
	}, text, arguments...)
	return goOn, err
}

func (s *source) All(_ int64, to engine.Visitor) error {
	_, err := s.visit(to, s.collection.texts.all)
	return err
}

// textsOf returns an index and its statements.
func (s *source) textsOf(index int) (*engine.Index, *entryTexts) {
	x := &s.schema.Indexes[index]
	return x, s.collection.texts.table(x.Spec.Unique)
}

func (s *source) Range(r engine.Range, to engine.Visitor) error {
	return s.planned(s.visitRange(r, to))
}

func (s *source) visitRange(r engine.Range, to engine.Visitor) error {
	x, texts := s.textsOf(r.Index)
	if !r.Sorted && !r.OneKey {
		return s.visitParts(x.Number, texts, r.Keys, to)
	}
	if len(r.Keys) > 1 {
		if err := s.begin(); err != nil {
			return err
		}
	}
	text, keys := texts.up, r.Keys
	if r.Backward {
		text, keys = texts.down, slices.Clone(keys)
		slices.Reverse(keys)
	}
	for i, part := range keys {
		if err := s.look(i); err != nil {
			return err
		}
		if goOn, err := s.visit(to, text, x.Number, part.From, part.To); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// statementsAtOnce is the number of statements that may find nothing between two checks of the context.
const statementsAtOnce = 32

// look checks the context before the statement with a number. A list in a filter may need many statements.
func (s *source) look(statement int) error {
	if statement == 0 || statement%statementsAtOnce > 0 {
		return nil
	}
	return engine.CheckEnded(s.ctx)
}

// visitParts visits the documents with keys in these ranges. The order is the order of insertion, and each
// document is visited once.
func (s *source) visitParts(number int, texts *entryTexts, ranges []query.KeyRange, to engine.Visitor) (err error) {
	if err := s.begin(); err != nil {
		return err
	}
	var positions []uint64
	for i, keys := range ranges {
		if positions, err = s.addPositions(positions, i, texts.positions, number, keys.From, keys.To); err != nil {
			return err
		}
	}
	return s.visitPositions(positions, to)
}

// checkEvery is the number of entries after which a search checks its context.
const checkEvery = 4096

func (s *source) CountRange(r engine.Range) (count int64, err error) {
	if len(r.Keys) > 1 {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	x, texts := s.textsOf(r.Index)
	for i, keys := range r.Keys {
		if err := s.look(i); err != nil {
			return 0, err
		}
		n, err := s.conn.number(s.ctx, texts.count, x.Number, keys.From, keys.To)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, s.planned(nil)
}

func (s *source) Cells(index, key int, ranges []query.KeyRange, to engine.Visitor) error {
	number := s.schema.Indexes[index].GeoNumber(key)
	return s.planned(s.visitParts(number, s.collection.texts.table(false), ranges, to))
}

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
