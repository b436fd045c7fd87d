package charlie

import (
	"context"
	"sync"
)

// queue runs jobs in the background: a bounded number at once, those of one key one after
// the other in the order in which they came.
type queue struct {
	backlog int
	slots   chan struct{}

	mu       sync.Mutex
	isClosed bool
	held     int
	// waiting are the jobs of each key behind the one that runs.
	waiting map[string][]func()
	// idle is closed when the queue is closed and nothing is left.
	idle chan struct{}
}

func newQueue(workers, backlog int) *queue {
	return &queue{
		backlog: backlog, slots: make(chan struct{}, workers), waiting: map[string][]func(){}, idle: make(chan struct{}),
	}
}

// add takes a job, unless the queue is full or closed.
func (q *queue) add(key string, job func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isClosed || q.held >= q.backlog {
		return false
	}
	q.held++
	behind, isBusy := q.waiting[key]
	if isBusy {
		q.waiting[key] = append(behind, job)
		return true
	}
	q.waiting[key] = nil
	go q.run(key, job)
	return true
}

// run runs a job and those that wait behind it.
func (q *queue) run(key string, job func()) {
	for job != nil {
		q.slots <- struct{}{}
		job()
		<-q.slots
		job = q.next(key)
	}
}

// next counts a job as done and returns the one behind it, nil where there is none.
func (q *queue) next(key string) func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held--
	if q.isClosed && q.held == 0 {
		close(q.idle)
	}
	behind := q.waiting[key]
	if len(behind) == 0 {
		delete(q.waiting, key)
		return nil
	}
	q.waiting[key] = behind[1:]
	return behind[0]
}

// close lets nothing more in, and waits until all is done or ctx ends.
func (q *queue) close(ctx context.Context) error {
	q.mu.Lock()
	if !q.isClosed && q.held == 0 {
		close(q.idle)
	}
	q.isClosed = true
	q.mu.Unlock()
	select {
	case <-q.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
