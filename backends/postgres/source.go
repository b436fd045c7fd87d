package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
)

// The errors after which a call is evaluated again.
var (
	// errStale means that the indexes have changed since they were read.
	errStale = errors.New("the indexes have changed")
	// errMore means that more candidates are needed than were asked for.
	errMore = errors.New("more candidates are needed")
)

// source is the content of a collection. Each method is a single statement, and so sees one snapshot. Only a
// search by distance needs several statements, in a transaction.
type source struct {
	ctx        context.Context //nolint:containedctx // It belongs to the one call that the source serves.
	cancel     context.CancelFunc
	store      *Store
	collection *collection
	known      *description
	by         querier
	// candidates is the number of documents to request if it is not known how many are needed, or 0 for all.
	candidates int64
	// repeats are the read's, or nil for a write.
	repeats *repeats
	// inWrite is true if the documents that are found will be locked.
	inWrite bool
	// snapshot is the transaction of a search by distance.
	snapshot pgx.Tx
}

var _ engine.Source = (*source)(nil)

const (
	// firstCandidates are requested at first. Each time that they are not enough, moreCandidates times as many
	// are, up to mostCandidates.
	firstCandidates = 8
	moreCandidates  = 8
	mostCandidates  = 100_000
)

// widened returns the next number of candidates to request.
func widened(candidates int64) int64 {
	if candidates *= moreCandidates; candidates > mostCandidates {
		return 0
	}
	return candidates
}

// Close implements engine.Source.
func (s *source) Close() {
	if s.snapshot != nil {
		_ = s.snapshot.Rollback(context.WithoutCancel(s.ctx)) // The transaction has only read.
	}
	s.cancel()
}

// Len implements engine.Source.
func (s *source) Len() (count int64, err error) {
	err = s.by.QueryRow(s.ctx, s.collection.texts.len).Scan(&count)
	return count, err
}

// ByID implements engine.Source.
func (s *source) ByID(id any) (found engine.Placed, exists bool, err error) {
	err = s.visit(engine.Yield(func(position uint64, o document.Object) bool {
		found, exists = engine.Placed{Document: o, Position: position}, true
		return true
	}), limit{}, s.collection.texts.byID, cutKey(document.AppendKey(nil, id)))
	return found, exists, err
}

// ByIDs implements engine.Source.
func (s *source) ByIDs(keys []query.KeyRange, to engine.Visitor) error {
	ids := make([][]byte, len(keys))
	for i := range keys {
		ids[i] = cutKey(keys[i].From)
	}
	return s.visit(to, limit{}, s.collection.texts.byIDs, ids)
}

// limit is the limit of a statement.
type limit struct {
	// most is the maximum number of rows, or 0 for all.
	most int64
	// isGuess is true if more rows may be needed.
	isGuess bool
}

// argument returns the argument of LIMIT.
func (l limit) argument() *int64 {
	if l.most == 0 {
		return nil
	}
	return &l.most
}

// limitFor returns the limit of a search that will probably need hint documents, or all of them if hint is 0.
func (s *source) limitFor(hint int64, isExact bool) limit {
	switch {
	case hint == 0 || !isExact && s.candidates == 0:
		return limit{}
	case isExact:
		return limit{most: hint}
	default:
		return limit{most: max(s.candidates, 2*hint), isGuess: true} //nolint:mnd // Some will not match.
	}
}

// visit visits the documents that a statement yields. A row without a document has the version of the description.
func (s *source) visit(to engine.Visitor, l limit, text string, arguments ...any) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	rows, err := s.by.Query(ctx, text, arguments...)
	if err != nil {
		return err
	}
	isEnd := false
	defer func() {
		if !isEnd && l.most == 0 {
			cancel() // The other rows are not needed.
		}
		rows.Close()
	}()
	var count int64
	for rows.Next() {
		columns := rows.RawValues()
		if columns[1] == nil {
			if int64(number(columns[2])) != s.known.version {
				return errStale
			}
			continue
		}
		one, err := s.store.readPlaced(s.collection.name, columns[0], columns[1])
		if err != nil {
			return err
		}
		count++
		if !to.Visit(one.Position, one.Document) {
			return nil
		}
	}
	isEnd = true
	if err := rows.Err(); err != nil {
		return err
	}
	if l.isGuess && count == l.most {
		return errMore
	}
	return nil
}

// number reads a whole number in the binary form of the server.
func number(column []byte) (n uint64) {
	for _, b := range column {
		n = n<<8 | uint64(b)
	}
	return n
}

// readPlaced reads a document from the columns of its position and its bytes.
func (s *Store) readPlaced(collection string, position, text []byte) (engine.Placed, error) {
	decoder, _ := s.decoders.Get().(*engine.Decoder)
	defer s.decoders.Put(decoder)
	at := number(position)
	o, err := decoder.Document(text)
	if err != nil {
		err = boterr.New(boterr.FailedPrecondition, "",
			"the document at position %d of the collection %q is damaged; restore a backup: %w", at, collection, err)
	}
	return engine.Placed{Document: o, Position: at}, err
}

// All implements engine.Source.
func (s *source) All(hint int64, to engine.Visitor) error {
	l := s.limitFor(hint, false)
	return s.visit(to, l, s.collection.texts.all, l.argument())
}

// top is above all keys, whose length is bounded.
var top = bytes.Repeat([]byte{0xff}, longestKey+sumSize+1)

// bounds returns the bounds of ranges of an index whose entries may be cut.
func bounds(x *engine.Index, ranges []query.KeyRange) (low, high [][]byte) {
	for _, keys := range ranges {
		if x.Cut {
			keys = cutRange(keys)
		}
		low, high = append(low, keys.From), append(high, keys.To)
	}
	return low, high
}

// Range implements engine.Source.
func (s *source) Range(r engine.Range, to engine.Visitor) error {
	x := &s.known.ready.Indexes[r.Index]
	texts := s.collection.texts.of(x.Spec.Unique)
	l := s.limitFor(r.Hint, r.Exact)
	low, high := bounds(x, r.Keys)
	isOne := len(low) == 1 && (r.Sorted || r.OneKey && !x.Cut)
	var text string
	switch {
	case isOne && r.Backward:
		text = texts.down
	case isOne:
		text = texts.up
	case r.Sorted && r.Backward:
		text = texts.downs
	case r.Sorted:
		text = texts.ups
	default:
		text = texts.positions
	}
	arguments := []any{x.Number, low, high, l.argument()}
	if isOne {
		arguments[1], arguments[2] = low[0], high[0]
	}
	return s.visit(to, l, text, arguments...)
}

// CountRange implements engine.Source.
func (s *source) CountRange(r engine.Range) (count int64, err error) {
	x := &s.known.ready.Indexes[r.Index]
	low, high := bounds(x, r.Keys)
	var version int64
	err = s.by.QueryRow(s.ctx, s.collection.texts.of(x.Spec.Unique).count, x.Number, low, high).Scan(&count, &version)
	if err == nil && version != s.known.version {
		err = errStale
	}
	return count, err
}

// Cells implements engine.Source.
func (s *source) Cells(index, key int, ranges []query.KeyRange, to engine.Visitor) error {
	x := &s.known.ready.Indexes[index]
	low, high := bounds(x, ranges)
	return s.visit(to, limit{}, s.collection.texts.of(false).positions, x.GeoNumber(key), low, high, limit{}.argument())
}

// Around implements engine.Source. It begins the transaction in which the rest of the search sees the same moment. What a
// write finds it locks, and looks at it again.
func (s *source) Around(index, key int, cell uint64, n int) (cells []uint64, err error) {
	if s.snapshot == nil && !s.inWrite {
		pool, _ := s.by.(*pgxpool.Pool)
		if s.snapshot, err = pool.BeginTx(s.ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
			return nil, err
		}
		s.by = s.snapshot
	}
	texts := s.collection.texts.of(false)
	number := s.known.ready.Indexes[index].GeoNumber(key)
	for _, text := range []string{texts.above, texts.below} {
		rows, err := s.by.Query(s.ctx, text, number, engine.CellKey(cell), n)
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			return nil, err
		}
		for _, key := range found {
			cells = append(cells, engine.CellOf(key))
		}
	}
	return slices.Clip(cells), nil
}
