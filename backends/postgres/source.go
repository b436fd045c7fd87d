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
	store      *Store
	collection *collection
	known      *description
	by         querier
	// candidates is the number of documents to request if it is not known how many are needed, or 0 for all.
	candidates int64
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
}

// End implements engine.Source. Only the server knows the end.
func (s *source) End() uint64 { return 1 << 62 }

// Len implements engine.Source.
func (s *source) Len() (count int64, err error) {
	err = s.by.QueryRow(s.ctx, s.collection.texts.len).Scan(&count)
	return count, err
}

// ByID implements engine.Source.
func (s *source) ByID(id any) (found engine.Placed, exists bool, err error) {
	_, err = s.visit(engine.Yield(func(position uint64, o document.Object) bool {
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
	_, err := s.visit(to, limit{}, s.collection.texts.byIDs, ids)
	return err
}

// ByKey implements engine.Source.
func (s *source) ByKey(index int, filter *query.Filter, most int64) (found []document.Object, isKey bool, err error) {
	x := &s.known.ready.Indexes[index]
	key, isKey := x.AppendKeyOf(nil, filter)
	if !isKey {
		return nil, false, nil
	}
	found = []document.Object{}
	_, err = s.visit(engine.Yield(func(_ uint64, o document.Object) bool {
		found = append(found, o)
		return true
	}), limit{most: most}, s.collection.texts.of(x.Spec.Unique).up, x.Number, key, query.KeyAfter(key), orNull(most))
	return found, true, err
}

// limit is the limit of a statement.
type limit struct {
	// most is the maximum number of rows, or 0 for all.
	most int64
	// isGuess is true if more rows may be needed.
	isGuess bool
}

func (l limit) argument() *int64 { return orNull(l.most) }

// orNull returns the argument of a LIMIT: NULL for 0.
func orNull(most int64) *int64 {
	if most == 0 {
		return nil
	}
	return &most
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

// visit visits the documents that a statement yields, and reports whether the search continues. A row without a
// document has the version of the description.
func (s *source) visit(to engine.Visitor, l limit, text string, arguments ...any) (goOn bool, err error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	rows, err := s.by.Query(ctx, text, arguments...)
	if err != nil {
		return false, err
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
				return false, errStale
			}
			continue
		}
		one, err := s.store.readPlaced(s.collection.name, columns[0], columns[1])
		if err != nil {
			return false, err
		}
		count++
		if !to.Visit(one.Position, one.Document) {
			return false, nil
		}
	}
	isEnd = true
	if err := rows.Err(); err != nil {
		return false, err
	}
	if l.isGuess && count == l.most {
		return false, errMore
	}
	return true, nil
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

// Batches implements engine.Source.
func (s *source) Batches(hint int64, to engine.BatchVisitor) error {
	l := s.limitFor(hint, false)
	b := engine.Batch{}
	goOn, err := s.visit(engine.Yield(func(position uint64, o document.Object) bool {
		b.Documents, b.Positions = append(b.Documents, o), append(b.Positions, position)
		if len(b.Documents) < query.BatchSize {
			return true
		}
		return flush(&b, to)
	}), l, s.collection.texts.all, l.argument())
	if isMore := err == errMore; (goOn || isMore) && len(b.Documents) > 0 && !flush(&b, to) { //nolint:errorlint // It comes as it is.
		return nil
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

// top is above all keys, whose length is bounded.
var top = bytes.Repeat([]byte{0xff}, longestKey+sumSize+1)

// bounds returns the bounds of ranges of an index whose entries may be cut.
func bounds(x *engine.Index, r *engine.Range) (low, high [][]byte) {
	if r.All {
		return [][]byte{{}}, [][]byte{top}
	}
	for _, keys := range r.Keys {
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
	low, high := bounds(x, &r)
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
	_, err := s.visit(to, l, text, arguments...)
	return err
}

// CountRange implements engine.Source.
func (s *source) CountRange(r engine.Range) (count int64, err error) {
	x := &s.known.ready.Indexes[r.Index]
	low, high := bounds(x, &r)
	var version int64
	err = s.by.QueryRow(s.ctx, s.collection.texts.of(x.Spec.Unique).count, x.Number, low, high).Scan(&count, &version)
	if err == nil && version != s.known.version {
		err = errStale
	}
	return count, err
}

// Cells implements engine.Source.
func (s *source) Cells(index, key int, ranges []engine.CellRange, to engine.Visitor) error {
	low, high := make([][]byte, len(ranges)), make([][]byte, len(ranges))
	for i, r := range ranges {
		low[i], high[i] = engine.CellKey(r.Low), query.KeyAfter(engine.CellKey(r.High))
	}
	_, err := s.visit(to, limit{}, s.collection.texts.of(false).positions,
		s.known.ready.Indexes[index].GeoNumber(key), low, high, orNull(0))
	return err
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
