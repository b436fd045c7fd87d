package botctx

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

const (
	// readyCollection holds the one document that Ready writes.
	readyCollection = "readiness"
	// readyFor is how long an answer of Ready stands, and readyWithin how long the store may take.
	readyFor    = time.Second
	readyWithin = 5 * time.Second
)

// readiness is the last answer of Ready.
type readiness struct {
	// asking is held while the store is asked, which is for no longer than readyWithin.
	asking sync.Mutex

	mu    sync.Mutex
	at    time.Time
	known bool
	err   error
}

// Ready returns nil if the store takes writes: for a probe, such as /readyz. It writes a small document
// of its own and waits up to five seconds for it. The answer stands for a second, so that many probes
// write no more than that.
//
// The errors are those of the store; Unavailable: it did not answer in time.
func (r *Runtime) Ready(ctx context.Context) error {
	r.readiness.asking.Lock()
	defer r.readiness.asking.Unlock()
	if err, isKnown := r.readiness.last(); isKnown {
		return err
	}
	asked, stop := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer stop()
	answered := make(chan error, 1)
	go func() { answered <- r.writeReady(asked) }()
	var err error
	select {
	case err = <-answered:
	case <-asked.Done():
		err = boterr.New(boterr.Unavailable, "", "the store has not taken a write for %v", readyWithin)
	}
	r.readiness.note(err)
	return err
}

// writeReady writes the document.
func (r *Runtime) writeReady(ctx context.Context) (err error) {
	defer func() { err = r.orPanic(ctx, place{}, err, recover()) }()
	filter, err := query.CompileFilter(document.O(record.FieldID, "ready"))
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O("$inc", document.O("probes", 1)))
	if err != nil {
		return err
	}
	_, err = r.guarded.Store.Collection(readyCollection).
		Update(ctx, filter, query.Change{Update: update}, store.UpdateOptions{Upsert: true})
	return err
}

// last returns the last answer, if it still stands.
func (k *readiness) last() (err error, isKnown bool) { //nolint:revive // The error is the answer.
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err, k.known && machineTime().Sub(k.at) < readyFor
}

// note keeps an answer.
func (k *readiness) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.known, k.err = machineTime(), true, err
}

// machineTime is the time by the machine's clock, whatever the host's says.
func machineTime() time.Time { return time.Now() } //nolint:forbidigo // See above.
