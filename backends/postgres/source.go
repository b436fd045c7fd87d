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

// Errors after which a call is evaluated again.
var (
	// errStale means that the indexes have changed since the description was read.
	errStale = errors.New("the indexes have changed")
	// errMore means that the search needs more candidates than it requested.
	errMore = errors.New("more candidates are needed")
)

// source reads a collection. Each method uses one statement, which sees one snapshot. Only a search by distance
// needs several statements, in a transaction.
type source struct {
	ctx        context.Context //nolint:containedctx // A source lives for one call.
	cancel     context.CancelFunc
	store      *Store
	collection *collection
	known      *description
	by         querier
	// candidates is the number of documents to request if the required number is unknown. 0 means all.
	candidates int64
	// repeats belongs to the read. It is nil for a write.
	repeats *repeats
	// inWrite is true if the found documents will be locked.
	inWrite bool
	// snapshot is the transaction for a search by distance.
	snapshot pgx.Tx
}

var _ engine.Source = (*source)(nil)

const (
	// A search requests firstCandidates documents at first. If they are not enough, it requests moreCandidates
	// times as many, up to mostCandidates, and then all.
	firstCandidates = 8
	moreCandidates  = 8
	mostCandidates  = 100_000
)

// widened returns the number of candidates for the next attempt.
func widened(candidates int64) int64 {
	if candidates *= moreCandidates; candidates > mostCandidates {
		return 0
	}
	return candidates
}

func (s *source) Close() {
	if s.snapshot != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), rollbackTime)
		defer cancel()
		_ = s.snapshot.Rollback(ending) // The transaction has only read.
	}
	s.cancel()
}

func (s *source) Len() (count int64, err error) {
	err = s.by.QueryRow(s.ctx, s.collection.texts.len).Scan(&count)
	return count, err
}

func (s *source) ByID(id any) (found engine.Placed, exists bool, err error) {
	err = s.visit(engine.Yield(func(position uint64, o document.Object) bool {
		found, exists = engine.Placed{Document: o, Position: position}, true
		return true
	}), limit{}, s.collection.texts.byID, cutKey(document.AppendKey(nil, id)))
	return found, exists, err
}

func (s *source) ByIDs(keys []query.KeyRange, to engine.Visitor) error {
	ids := make([][]byte, len(keys))
	for i := range keys {
		ids[i] = cutKey(keys[i].From)
	}
	return s.visit(to, limit{}, s.collection.texts.byIDs, ids)
}

// limit is the LIMIT of a statement.
type limit struct {
	// most is the largest number of rows. 0 means all.
	most int64
	// isGuess is true if the search may need more rows.
	isGuess bool
}

// argument returns the number of rows for a LIMIT, or nil for all.
func (l limit) argument() *int64 {
	if l.most == 0 {
		return nil
	}
	return &l.most
}

// limitFor returns the limit for a search that needs about hint documents. If hint is 0, it needs all.
func (s *source) limitFor(hint int64, isExact bool) limit {
	switch {
	case hint == 0 || !isExact && s.candidates == 0:
		return limit{}
	case isExact:
		return limit{most: hint}
	default:
		return limit{most: max(s.candidates, 2*hint), isGuess: true} //nolint:mnd // Some do not match the filter.
	}
}

// visit passes the documents of a statement's result to a visitor. A row without a document contains the
// description's version.
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
			cancel() // The remaining rows are not needed.
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

// number decodes an integer in PostgreSQL's binary format.
func number(column []byte) (n uint64) {
	for _, b := range column {
		n = n<<8 | uint64(b)
	}
	return n
}

// readPlaced decodes a document from the columns with its position and its bytes.
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

func (s *source) All(hint int64, to engine.Visitor) error {
	l := s.limitFor(hint, false)
	return s.visit(to, l, s.collection.texts.all, l.argument())
}

// top is greater than every key.
var top = bytes.Repeat([]byte{0xff}, longestKey+sumSize+1)

// bounds returns the bounds of ranges in an index. If the index contains cut keys, the bounds are cut, too.
func bounds(x *engine.Index, ranges []query.KeyRange) (low, high [][]byte) {
	for _, keys := range ranges {
		if x.Cut {
			keys = cutRange(keys)
		}
		low, high = append(low, keys.From), append(high, keys.To)
	}
	return low, high
}

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

func (s *source) Cells(index, key int, ranges []query.KeyRange, to engine.Visitor) error {
	x := &s.known.ready.Indexes[index]
	low, high := bounds(x, ranges)
	return s.visit(to, limit{}, s.collection.texts.of(false).positions, x.GeoNumber(key), low, high, limit{}.argument())
}

// Around implements engine.Source. For a read, it starts a transaction in which the rest of the search sees the
// same snapshot. A write needs none, because it locks the found documents and checks them again.
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
