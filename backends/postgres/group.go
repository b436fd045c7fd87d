package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// groups combines writes that change one document each. Writes that arrive while other groups run wait, and
// then share a transaction: its round trips, its statements and its wait for the disk.
//
// A group skips locked documents, and waits only briefly for other locks (see setPatience). If a write fails or
// its document is locked, the write leaves the group and runs alone.
type groups struct {
	mu sync.Mutex
	// waiting has the waiting writes to each document. It has a key for each document in ready or in a running group.
	waiting map[place][]*grouped
	// ready has the documents with waiting writes that are in no running group.
	ready []place
	// running is the number of running groups.
	running int
}

// place identifies a document: the collection and the key of the _id.
type place struct {
	collection *collection
	id         string
}

const (
	// maxGroup is the largest number of writes in a group. maxGroups is the largest number of groups that run
	// at the same time.
	maxGroup  = 256
	maxGroups = 2
	// maxGrouped is the largest document in a group, in bytes. groupTime limits the time to evaluate a group's
	// writes. Writes that exceed a limit run alone.
	maxGrouped = 64 << 10
	groupTime  = 20 * time.Millisecond
)

// setPatience makes a group fail soon if it must wait for a lock, because another transaction has inserted the
// same _id or locked a table.
const setPatience = "SELECT set_config('lock_timeout', '50ms', true)"

// errAlone means that the group did not carry out a write. The write must run alone.
var errAlone = errors.New("the write must run alone")

// grouped is a write in a group. It also implements the transaction in which the write is evaluated.
type grouped struct {
	place

	op engine.Op
	// refuser is from the caller's context.
	refuser store.Refuser

	state atomic.Int32
	done  chan struct{}
	err   error

	// found is the locked document, if exists is true.
	found  engine.Placed
	exists bool
	// position, before and after describe the change. A zero Object means that there is no document.
	position      uint64
	before, after document.Object
}

// States of a write in a group.
const (
	isWaiting = iota
	isRunning
	hasLeft
)

var _ engine.Shared = (*grouped)(nil)

// View implements engine.Transaction. The _id is known, so there is no search.
func (*grouped) View() engine.View { return engine.View{} }

func (w *grouped) LockID(any) (found engine.Placed, exists bool, err error) {
	if !w.exists { // The document does not exist, or another transaction has locked it.
		err = errAlone
	}
	return w.found, w.exists, err
}

func (*grouped) Lock([]uint64) ([]engine.Placed, error) { return nil, errAlone }

func (*grouped) LockFree([]uint64) (found engine.Placed, exists bool, err error) {
	return found, false, errAlone
}

func (*grouped) LockNext(engine.Range) (found engine.Placed, exists bool, err error) {
	return found, false, errAlone
}

func (w *grouped) Insert(o document.Object) error {
	w.after = o
	return nil
}

func (w *grouped) Replace(position uint64, before, after document.Object) error {
	w.position, w.before, w.after = position, before, after
	return nil
}

func (w *grouped) Remove(position uint64, o document.Object) error {
	w.position, w.before = position, o
	return nil
}

// isInsert reports whether the write inserts a document.
func (w *grouped) isInsert() bool {
	_, isInsert := w.op.(*engine.Inserting)
	return isInsert
}

// inGroup carries out a write to the document with this _id in a group. It returns errAlone if the write must
// run alone.
func (s *Store) inGroup(ctx context.Context, c *collection, op engine.Op, id any) error {
	w := &grouped{
		place: place{c, string(cutKey(document.AppendKey(nil, id)))}, op: op, refuser: store.RefuserOf(ctx), done: make(chan struct{}),
	}
	over := ctx.Done()
	s.groups.mu.Lock()
	s.groups.add(w)
	s.startGroups() //nolint:contextcheck // A group serves other callers, too.
	s.groups.mu.Unlock()
	select {
	case <-w.done:
		return w.err
	case <-over:
	}
	if w.state.CompareAndSwap(isWaiting, hasLeft) {
		return ctx.Err()
	}
	late := time.NewTimer(cancelTime)
	defer late.Stop()
	select {
	case <-w.done:
		return w.err
	case <-late.C:
		return unknownError{ctx.Err()}
	}
}

// startGroups starts groups for the waiting writes. Callers must hold s.groups.mu.
func (s *Store) startGroups() {
	for s.groups.running < maxGroups {
		writes := s.groups.next()
		if len(writes) == 0 {
			return
		}
		s.groups.running++
		go s.carryOut(writes)
	}
}

func (g *groups) add(w *grouped) {
	earlier, isKnown := g.waiting[w.place]
	g.waiting[w.place] = append(earlier, w)
	if !isKnown {
		g.ready = append(g.ready, w.place)
	}
}

// next removes the writes of the next group from the waiting ones. Each changes a different document.
func (g *groups) next() (writes []*grouped) {
	for len(g.ready) > 0 && len(writes) < maxGroup {
		p := g.ready[0]
		g.ready = g.ready[1:]
		first := slices.IndexFunc(g.waiting[p], func(w *grouped) bool { return w.state.Load() != hasLeft })
		if first < 0 {
			delete(g.waiting, p)
			continue
		}
		writes = append(writes, g.waiting[p][first])
		g.waiting[p] = g.waiting[p][first+1:]
	}
	return writes
}

// end ends the use of a document by a group.
func (g *groups) end(p place) {
	if len(g.waiting[p]) > 0 {
		g.ready = append(g.ready, p)
	} else {
		delete(g.waiting, p)
	}
}

// carryOut carries out a group, and then starts the next one.
func (s *Store) carryOut(writes []*grouped) {
	err := errAlone
	defer func() {
		_ = recover() // A write that panics does so again when it runs alone, in its caller's goroutine.
		s.groups.mu.Lock()
		defer s.groups.mu.Unlock()
		for _, w := range writes {
			if w.err == nil {
				w.err = err
			}
			s.groups.end(w.place)
			close(w.done)
		}
		s.groups.running--
		s.startGroups()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	err = s.together(ctx, writes)
}

// together carries out writes in one transaction. Its error applies to every write that has no error.
func (s *Store) together(ctx context.Context, writes []*grouped) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return errAlone
	}
	defer conn.Release()
	parts := partsOf(writes)
	begins, err := s.lockAll(ctx, conn, parts)
	isOpen := begins
	defer func() {
		if isOpen {
			rollBack(ctx, conn)
		}
	}()
	if err != nil {
		return errAlone
	}
	var batch pgx.Batch
	if !begins {
		batch.Queue(setPatience) // Without BEGIN, the batch is a transaction.
	}
	before := batch.Len()
	evaluate(ctx, parts)
	for _, p := range parts {
		p.queue(&batch)
	}
	for _, w := range writes {
		if w.refuser != nil && w.refuser.Refusal() != nil {
			return errAlone
		}
	}
	if batch.Len() == before {
		return nil
	}
	if begins {
		batch.Queue("COMMIT")
	}
	err = conn.SendBatch(ctx, &batch).Close()
	switch {
	case err == nil:
		isOpen = false
		return nil
	case s.hasLost(err) && !pgconn.SafeToRetry(err):
		return unknownError{err}
	default:
		return errAlone
	}
}

// part has the writes of a group to one collection, and their changes as arguments of statements.
type part struct {
	collection *collection
	known      *description
	writes     []*grouped

	// replaced and removed have positions. documents has the new contents for replaced.
	replaced, removed []int64
	documents         [][]byte
	// dropped and added are the changes of entries. There are no added unique ones.
	dropped, added bothEntries

	// inserts has the writes that insert. insertedIDs and inserted have their documents. In insertedKeys, a
	// place is the number of a document in these lists, starting with 1.
	inserts               []*grouped
	insertedIDs, inserted [][]byte
	insertedKeys          bothEntries
}

func partsOf(writes []*grouped) (parts []*part) {
	of := map[*collection]*part{}
	for _, w := range writes {
		p := of[w.collection]
		if p == nil {
			p = &part{collection: w.collection, known: w.collection.newest.Load()}
			of[w.collection], parts = p, append(parts, p)
		}
		p.writes = append(p.writes, w)
	}
	return parts
}

// lockAll locks the documents of the writes, except documents that others have locked. begins is false if there
// is nothing to lock, because all writes insert; then no transaction was started.
func (s *Store) lockAll(ctx context.Context, conn *pgxpool.Conn, parts []*part) (begins bool, err error) {
	var batch pgx.Batch
	batch.Queue("BEGIN")
	batch.Queue(setPatience)
	before := batch.Len()
	for _, p := range parts {
		p.queueLock(s, &batch)
	}
	if batch.Len() == before {
		return false, nil
	}
	return true, conn.SendBatch(ctx, &batch).Close()
}

// queueLock queues the statement that locks the documents.
func (p *part) queueLock(s *Store, batch *pgx.Batch) {
	byID := make(map[string]*grouped, len(p.writes))
	ids := make([][]byte, 0, len(p.writes))
	for _, w := range p.writes {
		if !w.isInsert() {
			byID[w.id], ids = w, append(ids, []byte(w.id))
		}
	}
	if len(ids) == 0 {
		return
	}
	batch.Queue(p.collection.texts.lockGroup, ids, maxGrouped).Query(func(rows pgx.Rows) error {
		return s.readLocked(p.collection, p.known.version, rows, func(found engine.Placed) {
			w := byID[string(rows.RawValues()[3])]
			w.found, w.exists = found, true
		})
	})
}

// evaluate evaluates the writes and collects their changes.
func evaluate(ctx context.Context, parts []*part) {
	ctx, cancel := context.WithTimeout(ctx, groupTime)
	defer cancel()
	for _, p := range parts {
		for _, w := range p.writes {
			if !w.state.CompareAndSwap(isWaiting, isRunning) {
				continue // The caller has left.
			}
			if err := w.op.Run(query.NewEvaluation(ctx), w); err != nil || !p.add(w) {
				w.err = errAlone
			}
		}
	}
}

// add collects the change of a write. It returns false if the write must run alone: its document is large, it
// changes the description of the indexes, or it adds unique entries, which another document may have.
func (p *part) add(w *grouped) bool {
	if w.before.IsZero() && w.after.IsZero() {
		return true
	}
	schema := p.known.all
	change, err := schema.Changes(w.before, w.after)
	if err != nil || change.Schema != nil || withCut(schema, change.Add) != schema || w.after.Size() > maxGrouped ||
		slices.ContainsFunc(change.Add, func(k engine.Key) bool { return k.IsUnique }) {
		return false
	}
	position := int64(w.position)
	switch {
	case w.before.IsZero():
		p.inserts = append(p.inserts, w)
		p.insertedIDs = append(p.insertedIDs, []byte(w.id))
		p.inserted = append(p.inserted, engine.AppendDocument(nil, w.after))
		p.insertedKeys.add(change.Add, int64(len(p.inserts)))
		return true
	case w.after.IsZero():
		p.removed = append(p.removed, position)
	default:
		p.replaced = append(p.replaced, position)
		p.documents = append(p.documents, engine.AppendDocument(nil, w.after))
	}
	p.dropped.add(change.Remove, position)
	p.added.add(change.Add, position)
	return true
}

// queue queues the statements for the collected changes.
func (p *part) queue(batch *pgx.Batch) {
	texts := p.collection.texts
	if len(p.replaced) > 0 {
		batch.Queue(texts.replace, p.replaced, p.documents)
	}
	if len(p.removed) > 0 {
		batch.Queue(texts.remove, p.removed)
	}
	for i := range texts.entries {
		if dropped := &p.dropped[i]; len(dropped.keys) > 0 {
			batch.Queue(texts.entries[i].drop, dropped.numbers, dropped.keys, dropped.places)
		}
	}
	if added := &p.added[0]; len(added.keys) > 0 {
		batch.Queue(texts.entries[0].add, added.numbers, added.keys, added.places)
	}
	if len(p.inserts) > 0 {
		keys := &p.insertedKeys[0]
		batch.Queue(texts.insertGroup, p.insertedIDs, p.inserted, p.known.version, keys.numbers, keys.keys, keys.places).QueryRow(p.readInserted)
	}
}

// readInserted reads the positions of the inserted documents. A document without a position was not inserted,
// because its _id already existed.
func (p *part) readInserted(row pgx.Row) error {
	var positions []*int64
	if err := row.Scan(&positions); err != nil {
		return err
	}
	for i, position := range positions {
		if position == nil {
			p.inserts[i].err = errAlone
		}
	}
	return nil
}
