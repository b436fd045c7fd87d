package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
)

// writer carries out all writes one after the other in one goroutine, because SQLite allows one writer at a
// time. Writes that wait at the same time share a transaction and a commit. Each has a savepoint.
type writer struct {
	store *Store
	conn  *conn
	queue chan *job
	// ended is closed when the goroutine ends.
	ended chan struct{}

	// made has the collections that the current group has created.
	made map[string]*collection
	// touched has the collections of the current group. performed has its completed writes.
	touched   []*collection
	performed []*job
	// isKept is true after the current group was committed.
	isKept bool

	commits, changes atomic.Int64
}

// job is a write that the writer carries out while its caller waits.
type job struct {
	ctx  context.Context //nolint:containedctx // A job is for one call.
	name string
	// run makes the changes. It may be called again.
	run func(t *transaction) error
	// between, if set, is called instead of run, outside of a transaction.
	between func() error
	// endsGroup is true if no other write may follow in the group, because it could show readers the uncommitted indexes.
	endsGroup bool

	state atomic.Int32
	// isKept is true after the write's group was committed.
	isKept bool
	done   chan struct{}
	err    error
	// panicked is the value of a panic of a watcher.
	panicked any

	// changes are the changed documents. replaced are the overlay's previous versions of them.
	changes    []engine.Change
	replaced   []replaced
	collection *collection
}

// States of a job.
const (
	isWaiting = iota
	isRunning
	hasLeft
)

const (
	// maxGroup is the largest number of writes that share a commit. After groupTime no more writes are added to
	// a group.
	maxGroup  = 256
	groupTime = 10 * time.Millisecond
)

func (w *writer) begin(s *Store, c *conn) {
	w.store, w.conn = s, c
	w.queue, w.ended = make(chan *job, maxGroup), make(chan struct{})
	go w.serve()
}

// end waits for the goroutine, empties the log and closes the connection.
func (w *writer) end() error {
	<-w.ended
	w.conn.forget()
	err := checkpoint(w.conn, "TRUNCATE")
	return errors.Join(err, w.conn.close())
}

// do queues a job and waits for it. If ctx ends before the job starts, the job is not carried out.
func (w *writer) do(j *job) error {
	if err := engine.CheckEnded(j.ctx); err != nil {
		return err
	}
	j.done = make(chan struct{})
	over := j.ctx.Done() // Done is code of the caller and may panic, so call it before the job is queued.
	select {
	case <-w.store.closing:
		return errClosed
	case w.queue <- j:
	case <-over:
		return engine.CheckEnded(j.ctx)
	}
	select {
	case <-j.done:
	case <-w.ended:
		select {
		case <-j.done:
		default:
			return errClosed
		}
	case <-over:
		if j.state.CompareAndSwap(isWaiting, hasLeft) {
			return engine.CheckEnded(j.ctx)
		}
		<-j.done // A group takes little time.
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

// serve carries out writes until the store is closed, and then the remaining ones. If a caller's code ends the
// goroutine with runtime.Goexit, only the current group fails, and another goroutine continues.
func (w *writer) serve() {
	hasEnded := false
	var group []*job
	defer func() {
		if hasEnded {
			return
		}
		if !w.isKept {
			w.rollBack()
		}
		for _, j := range group {
			if j.isKept {
				w.answer(j, j.err)
			} else {
				w.answer(j, errStopped)
			}
		}
		go w.serve()
	}()
	for {
		var first *job
		select {
		case first = <-w.queue:
		case <-w.store.closing:
			select {
			case first = <-w.queue:
			default:
				hasEnded = true
				close(w.ended)
				return
			}
		}
		group = append(group[:0], first)
		w.together(&group)
		for _, j := range group {
			w.answer(j, j.err)
		}
		group = group[:0]
		w.store.checkpoints.afterGroup(w)
	}
}

var errStopped = boterr.New(boterr.Internal, "", "another write ended the goroutine, and its group was not written; repeat this one")

func (w *writer) answer(j *job, err error) {
	select {
	case <-j.done: // The job was already answered.
	default:
		j.err = err
		close(j.done)
	}
}

// together carries out a group of writes: the first one, and all that wait while it runs. If the group fails
// because of the file, each write is carried out once more, alone, because a single write may be the cause.
func (w *writer) together(group *[]*job) {
	err := w.attempt(group, maxGroup)
	if err == nil {
		return
	}
	if kindOf(err) == sqlite3.SQLITE_FULL {
		w.store.readers.pause(restartWait, func() { _ = checkpoint(w.conn, "TRUNCATE") })
	}
	for _, j := range *group {
		j.state.CompareAndSwap(isRunning, isWaiting)
		if err := w.attempt(&[]*job{j}, 1); err != nil {
			j.err = err
		}
		w.answer(j, j.err) // Answer now, because the next write may end the goroutine.
	}
}

// attempt carries out a group in one transaction. It adds writes that arrive meanwhile, up to most. It returns
// an error if the file fails; nothing was written then. Errors of single writes are stored in their jobs.
func (w *writer) attempt(group *[]*job, most int) error {
	if err := w.store.checkPath(); err != nil {
		return err
	}
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	open := within(groupTime)
	w.isKept = false
	w.made, w.touched, w.performed = map[string]*collection{}, w.touched[:0], w.performed[:0]
	for done := 0; done < len(*group); {
		j := (*group)[done]
		if err := w.perform(j); err != nil {
			w.rollBack()
			return err
		}
		done++
		if len(*group) < most && !open.isOver() && !j.endsGroup {
			select {
			case next := <-w.queue:
				*group = append(*group, next)
			default:
			}
		}
	}
	if err := w.commit(*group); err != nil {
		w.rollBack()
		return err
	}
	w.isKept = true
	w.publish(*group)
	return nil
}

// perform carries out one write. It returns an error if the file fails. Other errors are stored in the job.
func (w *writer) perform(j *job) error {
	j.err, j.changes, j.replaced = nil, nil, nil
	if j.between != nil || !j.state.CompareAndSwap(isWaiting, isRunning) {
		return nil
	}
	c, err := w.collection(j.name)
	if err != nil {
		return err
	}
	j.collection = c
	t := &transaction{writer: w, job: j, ctx: j.ctx}
	t.source = source{ctx: j.ctx, conn: w.conn, collection: c, schema: c.draft.Ready(), inGroup: true}
	err = t.run()
	if kindOf(err) != sqlite3.SQLITE_OK {
		return err
	}
	j.err = err
	if !t.isSaved {
		return nil
	}
	if err != nil {
		if err := t.undo(); err != nil {
			return err
		}
	}
	w.performed = append(w.performed, j)
	_, err = w.conn.exec("RELEASE one")
	return err
}

// collection returns a collection. It creates the collection if necessary.
func (w *writer) collection(name string) (*collection, error) {
	c := w.made[name]
	if c == nil {
		c = w.store.found(name)
	}
	if c == nil {
		number, err := w.makeCollection(name)
		if err != nil {
			return nil, err
		}
		c = w.store.newCollection(name, number, &engine.Schema{Name: name}, 1)
		w.made[name] = c
	}
	if !slices.Contains(w.touched, c) {
		w.touched = append(w.touched, c)
	}
	return c, nil
}

// commit writes the changed descriptions and commits.
func (w *writer) commit(group []*job) error {
	for _, c := range w.touched {
		if !c.isGrown() {
			continue
		}
		if err := c.describe(w.conn); err != nil {
			return err
		}
	}
	for _, c := range w.touched {
		c.cache.hide(c.overlay)
	}
	if _, err := w.conn.exec("COMMIT"); err != nil {
		return err
	}
	for _, j := range group {
		j.isKept = true
		w.changes.Add(int64(len(j.changes)))
	}
	w.commits.Add(1)
	return nil
}

// rollBack rolls the current group back and resets the collections' states.
func (w *writer) rollBack() {
	_, _ = w.conn.exec("ROLLBACK") // Some errors have already ended the transaction.
	for _, c := range w.touched {
		c.rollBack()
		c.cache.clear()
	}
	w.touched, w.made = w.touched[:0], nil
}

// publish makes the changes of a group visible to readers, followers and watchers.
func (w *writer) publish(group []*job) {
	for name, c := range w.made {
		w.store.room.add(&c.cache)
		w.store.collections.Store(name, c)
	}
	for _, c := range w.touched {
		c.cache.apply(c.overlay)
		c.commit()
	}
	for _, j := range group {
		if len(j.changes) > 0 {
			j.collection.followers.Tell(j.changes)
		}
	}
	defer func() {
		for _, j := range group {
			if j.between != nil && j.state.CompareAndSwap(isWaiting, isRunning) {
				j.err = j.between()
			}
		}
	}()
	notifyOf(group)
}

// notifyOf calls the watchers for each write, even if one of them ends the goroutine.
func notifyOf(group []*job) {
	if len(group) == 0 {
		return
	}
	defer notifyOf(group[1:])
	if j := group[0]; len(j.changes) > 0 {
		j.panicked = j.collection.watchers.notify(j.changes)
	}
}

// limit is a deadline. It uses the machine's clock, because it limits how long callers wait.
type limit struct{ end time.Time }

func within(span time.Duration) limit {
	return limit{end: time.Now().Add(span)} //nolint:forbidigo // Callers wait in real time.
}

func (l limit) isOver() bool {
	return time.Now().After(l.end) //nolint:forbidigo // Callers wait in real time.
}

// turn is the context of a write in a group. It ends when the write has delayed the others long enough.
type turn struct {
	context.Context //nolint:containedctx // A turn is a context.

	limit    limit
	hasEnded bool
}

func (t *turn) Err() error {
	if err := t.Context.Err(); err != nil {
		return err
	}
	if t.hasEnded || t.limit.isOver() {
		t.hasEnded = true
		return context.DeadlineExceeded
	}
	return nil
}
