package sqlite

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
)

// writer carries out all writes, one after the other, in one goroutine: SQLite has one writer at a time. Writes
// that wait together share a transaction, each with a savepoint, and a commit.
type writer struct {
	store *Store
	conn  *conn
	queue chan *job
	// ended is closed when the goroutine has ended.
	ended chan struct{}

	// made are the collections that the current group has created.
	made map[string]*collection
	// touched are the collections that it has changed, and performed the writes that it has carried out.
	touched   []*collection
	performed []*job
	// isKept is true once the current group is committed.
	isKept bool

	commits, changes atomic.Int64
}

// job is a write whose caller waits.
type job struct {
	ctx  context.Context //nolint:containedctx // It belongs to this one call.
	name string
	// run carries it out in the transaction of a group. It may be called again.
	run func(t *transaction) error
	// between is called instead, when no transaction is open.
	between func()

	state atomic.Int32
	done  chan struct{}
	err   error
	// panicked is the panic of run or of a watcher.
	panicked any

	// changes are its changes of documents, and replaced the documents of the overlay that they have replaced.
	changes    []engine.Change
	replaced   []replaced
	collection *collection
}

// The states of a job.
const (
	isWaiting = iota
	isRunning
	hasLeft
)

const (
	// maxGroup is the maximum number of writes that share a commit. groupTime is the time after which no more
	// are added.
	maxGroup  = 256
	groupTime = 10 * time.Millisecond
)

func (w *writer) begin(s *Store, c *conn) {
	w.store, w.conn = s, c
	w.queue, w.ended = make(chan *job, maxGroup), make(chan struct{})
	go w.serve()
}

// end waits until the writes are done, empties the log and closes the connection.
func (w *writer) end() error {
	<-w.ended
	w.conn.forget()
	err := checkpoint(w.conn, "TRUNCATE")
	return errors.Join(err, w.conn.close())
}

// do carries out a job and waits for it. If ctx ends before the job has begun, the job is not carried out.
func (w *writer) do(j *job) error {
	if err := engine.CheckEnded(j.ctx); err != nil {
		return err
	}
	j.done = make(chan struct{})
	over := j.ctx.Done() // Called before the job is queued: it is code of the caller, and may panic.
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

// serve carries out writes until the store closes, and then the waiting ones. A function of a caller that ends
// the goroutine, by runtime.Goexit, ends its own write only: another goroutine continues.
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
			if w.isKept {
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

var errStopped = boterr.New(boterr.Internal, "", "a write ended its goroutine, and nothing of its group was written; repeat this one")

func (w *writer) answer(j *job, err error) {
	select {
	case <-j.done: // It was answered before.
	default:
		j.err = err
		close(j.done)
	}
}

// together carries out a group of writes: the first one, and all that wait by the time it runs. If the file
// fails, each of them is carried out once more, alone, since a single one may be the cause.
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
		w.answer(j, j.err) // The next write may end the goroutine.
	}
}

// attempt carries out the writes of a group and others that arrive meanwhile, up to most. It returns an error
// if the file fails; then nothing was written. The errors of single writes stay in their jobs.
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
		if err := w.perform((*group)[done]); err != nil {
			w.rollBack()
			return err
		}
		done++
		if len(*group) < most && !open.isOver() {
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

// perform runs a write. It returns an error if the file fails.
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
	t.source = source{ctx: j.ctx, conn: w.conn, collection: c, schema: c.ready(), inGroup: true}
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

// collection returns a collection, and creates a missing one.
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

// commit writes the descriptions that have changed, and commits.
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
		w.changes.Add(int64(len(j.changes)))
	}
	w.commits.Add(1)
	return nil
}

// rollBack undoes the current group, and resets what is known of the file.
func (w *writer) rollBack() {
	_, _ = w.conn.exec("ROLLBACK") // After some errors there is no longer a transaction.
	for _, c := range w.touched {
		c.rollBack()
		c.cache.clear()
	}
	w.touched, w.made = w.touched[:0], nil
}

// publish shows readers and watchers what is in the file now.
func (w *writer) publish(group []*job) {
	for name, c := range w.made {
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
				j.between()
			}
		}
	}()
	notifyOf(group)
}

// notifyOf calls the watchers of each write, even if one of them ends the goroutine.
func notifyOf(group []*job) {
	if len(group) == 0 {
		return
	}
	defer notifyOf(group[1:])
	if j := group[0]; len(j.changes) > 0 {
		j.panicked = j.collection.watchers.notify(j.changes)
	}
}

// asError returns the error of a panic in a write.
func asError(thrown any) error {
	return boterr.New(boterr.Internal, "", "the write panicked: %v\n%s", thrown, debug.Stack())
}
