package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Write implements engine.Port. It searches without locks, locks the found documents, and checks them again. If
// they have changed, it starts again. The changes are sent together with the commit.
func (p *port) Write(ctx context.Context, op engine.Op) error {
	bounded, cancel := within(ctx, p.store.timeout)
	defer cancel()
	c, err := p.store.found(bounded, p.name)
	if err == nil && c == nil {
		var inserts bool
		if inserts, err = engine.RunMissing(bounded, p.name, op); inserts {
			c, err = p.store.made(bounded, p.name)
		}
	}
	if err == nil && c != nil {
		err = p.writeTo(bounded, c, op)
	}
	return p.store.failure(ctx, err)
}

// writeTo runs a write, and repeats it if another transaction interferes.
func (p *port) writeTo(ctx context.Context, c *collection, op engine.Op) error {
	if id, isKnown := op.ID(); isKnown {
		if err := p.store.inGroup(ctx, c, op, id); err != errAlone { //nolint:errorlint // It is never wrapped.
			return err
		}
	}
	r := repeats{store: p.store, collection: c, candidates: firstCandidates}
	for {
		t, err := p.attempt(ctx, c, op, r.candidates)
		if err == nil {
			return nil
		}
		if err := r.allow(ctx, t, err); err != nil {
			return err
		}
		if err := engine.CheckEnded(ctx); err != nil {
			return err
		}
	}
}

// repeats decides whether a failed call is repeated.
type repeats struct {
	store      *Store
	collection *collection
	// candidates is the number of documents to request in the next attempt.
	candidates int64
	// losses counts repetitions after a lost connection. upserts counts repetitions because another write
	// inserted the same document. cancels counts repetitions after a cancellation.
	losses, upserts, cancels int
}

// The maximum numbers of retries of a call: maxLosses if the connection was lost before the commit, maxUpserts
// if another write inserted the same document, maxCancels if the server cancelled a statement. A read that needs no
// more rows cancels its statement, and the server may apply that to the connection's next statement.
const (
	maxLosses  = 2
	maxUpserts = 2
	maxCancels = 1
)

// allow returns nil if a call that failed with err may be repeated, and otherwise the error to return.
func (r *repeats) allow(ctx context.Context, t *transaction, err error) error {
	state := stateOf(err)
	switch {
	case err == engine.ErrAgain, state == codeDeadlock, state == codeSerialization: //nolint:errorlint // It is never wrapped.
		return nil
	case err == errMore: //nolint:errorlint // It is never wrapped.
		r.candidates = widened(r.candidates)
		return nil
	case err == errStale, state == codeStale: //nolint:errorlint // It is never wrapped.
		return r.store.reload(ctx, r.store.pool, r.collection)
	case state == codeCanceled && r.cancels < maxCancels && ctx.Err() == nil:
		r.cancels++
		return nil
	case r.store.hasLost(err):
		return r.allowLoss(ctx, t, err)
	}
	code := boterr.CodeOf(err)
	if code == boterr.AlreadyExists && t.isUpsert() && r.upserts < maxUpserts {
		r.upserts++
		return nil
	}
	if code == boterr.InvalidArgument {
		if isStale, failed := r.store.isStale(ctx, r.collection, t.known); failed == nil && isStale {
			return nil
		}
	}
	return err
}

// allowLoss is allow for a lost connection: it returns nil if the call may be repeated, or else the error to return.
func (r *repeats) allowLoss(ctx context.Context, t *transaction, err error) error {
	switch {
	case t.mayBeKept:
		return unknownError{err}
	case r.losses < maxLosses && ctx.Err() == nil:
		r.losses++
		return nil
	default:
		return err
	}
}

// attempt runs a write once.
func (p *port) attempt(ctx context.Context, c *collection, op engine.Op, candidates int64) (*transaction, error) {
	t := &transaction{ctx: ctx, store: p.store, collection: c, known: c.newest.Load()}
	conn, err := p.store.pool.Acquire(ctx)
	if err != nil {
		return t, err
	}
	defer conn.Release()
	t.conn, t.schema, t.version = conn, t.known.all, t.known.version
	t.source = source{ctx: ctx, store: p.store, collection: c, known: t.known, by: conn, candidates: candidates, inWrite: true}
	_, t.isInsert = op.(*engine.Inserting)
	err = op.Run(query.NewEvaluation(ctx), t)
	if err == nil {
		err = t.commit()
	}
	if t.failed != nil {
		err = t.failed
	}
	t.rollBack(ctx)
	return t, err
}

// transaction is one attempt of a write. Its changes are queued and sent together.
type transaction struct {
	ctx        context.Context //nolint:containedctx // A transaction lives for one call.
	store      *Store
	collection *collection
	conn       *pgxpool.Conn
	source     source
	known      *description
	// schema is the description with the changes so far. version is the description's version after the queue
	// was sent.
	schema  *engine.Schema
	version int64

	// queued has the unsent changes. size is the total size of their documents in bytes.
	queued []queued
	size   int
	// isBegun is true after BEGIN was sent. mayBeKept is true if the commit may have taken effect although it
	// failed.
	isBegun, mayBeKept bool
	// isInsert is true if the write is an Insert. inserts is the number of inserted documents.
	isInsert bool
	inserts  int
	// failed is the error of a queued statement.
	failed error
}

// queued is a statement that belongs to a document.
type queued struct {
	text      string
	arguments []any
	document  document.Object
	// number is the index of the document in an Insert.
	number int
}

var _ engine.Shared = (*transaction)(nil)

// isUpsert reports whether the write is not an Insert, but has inserted a document.
func (t *transaction) isUpsert() bool { return !t.isInsert && t.inserts > 0 }

func (t *transaction) View() engine.View {
	return engine.View{Schema: t.known.ready, Source: &t.source}
}

func (t *transaction) LockID(id any) (found engine.Placed, exists bool, err error) {
	return t.lockOne(t.collection.texts.lockID, cutKey(document.AppendKey(nil, id)))
}

func (t *transaction) Lock(positions []uint64) ([]engine.Placed, error) {
	return t.lock(t.collection.texts.lock, signed(positions))
}

func (t *transaction) LockFree(positions []uint64) (found engine.Placed, exists bool, err error) {
	return t.lockOne(t.collection.texts.lockFree, signed(positions))
}

func signed(positions []uint64) []int64 {
	numbers := make([]int64, len(positions))
	for i, position := range positions {
		numbers[i] = int64(position)
	}
	return numbers
}

// lock runs a statement that locks documents, and returns them. The first call starts the transaction in the same
// round trip.
func (t *transaction) lock(text string, arguments ...any) (all []engine.Placed, err error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	var batch pgx.Batch
	if !t.isBegun {
		batch.Queue("BEGIN")
		t.isBegun = true
	}
	batch.Queue(text, arguments...).Query(func(rows pgx.Rows) error {
		return t.store.readLocked(t.collection, t.version, rows, func(one engine.Placed) { all = append(all, one) })
	})
	err = t.conn.SendBatch(t.ctx, &batch).Close()
	return all, err
}

// readLocked reads documents that a statement has locked. The third column is the description's version. While locked
// is called, rows has the document's other columns.
func (s *Store) readLocked(c *collection, version int64, rows pgx.Rows, locked func(one engine.Placed)) error {
	for rows.Next() {
		columns := rows.RawValues()
		if int64(number(columns[2])) != version {
			return errStale
		}
		one, err := s.readPlaced(c.name, columns[0], columns[1])
		if err != nil {
			return err
		}
		locked(one)
	}
	return rows.Err()
}

// lockOne does the same as lock for a statement that returns at most one document.
func (t *transaction) lockOne(text string, arguments ...any) (found engine.Placed, exists bool, err error) {
	all, err := t.lock(text, arguments...)
	if err != nil || len(all) == 0 {
		return found, false, err
	}
	return all[0], true, nil
}

func (t *transaction) LockNext(r engine.Range) (found engine.Placed, exists bool, err error) {
	x := &t.known.ready.Indexes[r.Index]
	text := t.collection.texts.of(x.Spec.Unique).nextUp
	if r.Backward {
		text = t.collection.texts.of(x.Spec.Unique).nextDown
	}
	low, high := bounds(x, r.Keys)
	return t.lockOne(text, x.Number, low[0], high[0])
}

func (t *transaction) Insert(o document.Object) error {
	changes, err := t.changes(document.Object{}, o)
	if err != nil {
		return err
	}
	id, _ := o.Field(document.IDField)
	var added bothEntries
	added.add(changes.Add, 0)
	plain, unique := &added[0], &added[1]
	t.inserts++
	return t.queue(o, t.collection.texts.insert, cutKey(document.AppendKey(nil, id)), engine.AppendDocument(nil, o), t.version,
		plain.numbers, plain.keys, unique.numbers, unique.keys)
}

func (t *transaction) Replace(position uint64, before, after document.Object) error {
	return t.change(engine.Change{Position: position, Before: before, After: after},
		t.collection.texts.replace, []int64{int64(position)}, [][]byte{engine.AppendDocument(nil, after)})
}

func (t *transaction) Remove(position uint64, o document.Object) error {
	return t.change(engine.Change{Position: position, Before: o}, t.collection.texts.remove, []int64{int64(position)})
}

// change queues the statement that changes a document, and the changes of its entries.
func (t *transaction) change(made engine.Change, text string, arguments ...any) error {
	changes, err := t.changes(made.Before, made.After)
	if err != nil {
		return err
	}
	o := cmp.Or(made.After, made.Before)
	err = t.queue(o, text, arguments...)
	var removed, added bothEntries
	removed.add(changes.Remove, int64(made.Position))
	added.add(changes.Add, int64(made.Position))
	texts := &t.collection.texts.entries
	for _, one := range []struct {
		text string
		entries
	}{
		{texts[0].drop, removed[0]}, {texts[1].drop, removed[1]}, {texts[0].add, added[0]}, {texts[1].add, added[1]},
	} {
		if err == nil && len(one.keys) > 0 {
			err = t.queue(o, one.text, one.numbers, one.keys, one.places)
		}
	}
	return err
}

// changes returns the changes of index entries. If they change the description, it queues that change, too.
func (t *transaction) changes(before, after document.Object) (engine.Changes, error) {
	changes, err := t.schema.Changes(before, after)
	if err != nil {
		return changes, err
	}
	grown := changes.Schema
	if grown == nil {
		grown = t.schema
	}
	if grown = withCut(grown, changes.Add); grown == t.schema {
		return changes, nil
	}
	t.schema = grown
	text, err := grown.MarshalIndexes()
	if err != nil {
		return changes, err
	}
	err = t.queue(document.Object{}, "SELECT "+t.store.schema+"._describe($1,$2,$3)", t.collection.number, t.version, text)
	t.version++
	return changes, err
}

// withCut returns a schema in which indexes with a cut key are marked.
func withCut(schema *engine.Schema, keys []engine.Key) *engine.Schema {
	for i := range keys {
		if len(keys[i].Key) <= longestKey {
			continue
		}
		if at := schema.IndexOf(keys[i].Number); !schema.Indexes[at].Cut {
			schema = schema.WithCut(at)
		}
	}
	return schema
}

// entries are index entries for one table, as arguments of a statement. Places are positions of documents.
type entries struct {
	numbers []int32
	keys    [][]byte
	places  []int64
}

func (e *entries) add(key *engine.Key, place int64) {
	e.numbers, e.keys, e.places = append(e.numbers, int32(key.Number)), append(e.keys, cutKey(key.Key)), append(e.places, place)
}

// bothEntries are entries of plain indexes and of unique ones.
type bothEntries [2]entries

func (b *bothEntries) add(keys []engine.Key, place int64) {
	for i := range keys {
		table := &b[0]
		if keys[i].IsUnique {
			table = &b[1]
		}
		table.add(&keys[i], place)
	}
}

// Limits of the queue, to save memory.
const (
	maxQueued     = 2000
	maxQueuedSize = 8 << 20
)

func (t *transaction) queue(o document.Object, text string, arguments ...any) error {
	if len(t.queued) >= maxQueued || t.size >= maxQueuedSize {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.queued = append(t.queued, queued{text: text, arguments: arguments, document: o, number: t.inserts - 1})
	t.size += o.Size()
	return nil
}

// flush sends the queue without a commit.
func (t *transaction) flush() error {
	if t.isBegun {
		return t.send("", "")
	}
	return t.send("BEGIN", "")
}

// commit sends the queue and commits. It does nothing if the queue is empty; the caller must then end the
// transaction.
func (t *transaction) commit() error {
	if len(t.queued) == 0 {
		return nil
	}
	end := ""
	if t.isBegun { // Otherwise the batch is a transaction.
		end = "COMMIT"
	}
	if err := t.send("", end); err != nil {
		t.mayBeKept = !pgconn.SafeToRetry(err)
		return err
	}
	t.isBegun = false
	if t.schema != t.known.all {
		t.collection.set(newDescription(t.version, t.schema))
	}
	return nil
}

// send sends the queue, after the statement begin and before the statement end. Both may be "".
func (t *transaction) send(begin, end string) error {
	if len(t.queued) == 0 {
		return nil
	}
	if err := store.Refusal(t.ctx); err != nil {
		return err
	}
	var batch pgx.Batch
	if begin != "" {
		batch.Queue(begin)
		t.isBegun = true
	}
	before := batch.Len()
	for i := range t.queued {
		batch.Queue(t.queued[i].text, t.queued[i].arguments...)
	}
	if end != "" {
		batch.Queue(end)
	}
	if t.failed = t.carryOut(&batch, before); t.failed != nil {
		return t.failed
	}
	t.queued, t.size = t.queued[:0], 0
	return nil
}

// carryOut sends a batch. before is the number of statements before the queued ones.
func (t *transaction) carryOut(batch *pgx.Batch, before int) (err error) {
	results := t.conn.SendBatch(t.ctx, batch)
	for i := range batch.Len() {
		if _, err = results.Exec(); err != nil {
			_ = results.Close() // Close returns the same error.
			if at := i - before; at >= 0 && at < len(t.queued) {
				err = t.refused(&t.queued[at], err)
			}
			return err
		}
	}
	return results.Close()
}

// taken matches the key of the existing document in the server's error detail.
var taken = regexp.MustCompile(`\(x, key\)=\((\d+), \\x([0-9a-f]*)\)`)

// refused converts the error of a queued statement. A duplicate key becomes AlreadyExists.
func (t *transaction) refused(q *queued, err error) error {
	failed, _ := errors.AsType[*pgconn.PgError](err)
	if failed == nil || failed.Code != codeUnique {
		return err
	}
	err = t.schema.DuplicateID(q.document)
	if found := taken.FindStringSubmatch(failed.Detail); found != nil {
		number, _ := strconv.Atoi(found[1]) // The expression only matches digits.
		err = t.schema.Duplicate(q.document, engine.Key{Number: number, Key: t.wholeKey(q.document, number, found[2])})
	}
	if t.isInsert {
		err = boterr.PrefixField("["+strconv.Itoa(q.number)+"]", err)
	}
	return err
}

// wholeKey returns the document's key in an index whose stored form, in hexadecimal, is kept.
func (t *transaction) wholeKey(o document.Object, number int, kept string) []byte {
	changes, err := t.schema.Changes(document.Object{}, o)
	for i := range changes.Add {
		if key := changes.Add[i]; err == nil && key.Number == number && hex.EncodeToString(cutKey(key.Key)) == kept {
			return key.Key
		}
	}
	return nil
}

// rollbackTime limits the time to roll back a transaction.
const rollbackTime = 5 * time.Second

// rollBack rolls the transaction back if it is still open.
func (t *transaction) rollBack(ctx context.Context) {
	if t.isBegun {
		rollBack(ctx, t.conn)
	}
}

func rollBack(ctx context.Context, conn *pgxpool.Conn) {
	if conn.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK") // If this fails, the pool closes the connection.
}
