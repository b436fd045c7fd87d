package inbox

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Handler handles an event. An error, a panic, and the end of its goroutine are failures. ctx ends
// with the cause lease.ErrLost where the turn is lost, and with ErrShutdown where a shutdown does
// not wait any longer; an error that it returns then is no failure of the event.
type Handler func(ctx context.Context, d *Delivery) error

// Delivery is one attempt to handle an event.
type Delivery struct {
	// ID is the event's id in the inbox.
	ID string
	// Event is the event, AcceptedAt when it was accepted.
	Event      Event
	AcceptedAt time.Time
	// Attempt counts the attempts, from 1 on.
	Attempt int

	inbox *Inbox
	turn  *lease.Turn
	// mu guards memory: what attempts have noted, by its key. unstored are the keys of what the store does
	// not have yet.
	mu       sync.Mutex
	memory   map[string]document.Object
	unstored []string
	// size is the memory's, in bytes.
	size int
}

// MaxRemembered is the number of things that the attempts at one event can remember, and
// MaxRememberedSize that of the bytes in them: they are kept with the event, as long as that waits.
const (
	MaxRemembered     = 1000
	MaxRememberedSize = 1 << 20
)

// The fields of what is remembered.
const (
	fieldMemoryKey   = "key"
	fieldMemoryValue = "value"
)

// deliver returns the delivery of an event within a turn.
func (b *Inbox) deliver(e stored, turn *lease.Turn) *Delivery {
	d := &Delivery{
		ID: e.id, Event: e.Event, AcceptedAt: document.Timestamp(e.acceptedAt).Time(), Attempt: int(e.attempts()) + 1,
		inbox: b, turn: turn,
	}
	if e.memory.Len() == 0 {
		return d
	}
	d.memory = make(map[string]document.Object, e.memory.Len())
	for _, item := range e.memory.All() {
		noted, _ := item.(document.Object)
		d.memory[document.Get(noted, fieldMemoryKey, "")] = document.Get(noted, fieldMemoryValue, document.O())
		d.size += noted.Size()
	}
	return d
}

// Turn returns the turn of the event's lane.
func (d *Delivery) Turn() *lease.Turn { return d.turn }

// Err returns lease.ErrLost where nothing that the handler still does counts, since the turn may be
// another one's.
func (d *Delivery) Err() error { return d.turn.Err() }

// Recall returns what was noted under a key, by this attempt or one before.
func (d *Delivery) Recall(key string) (document.Object, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, ok := d.memory[key]
	return value, ok
}

// Note is Remember that costs nothing by itself: what is noted is durable as soon as the next thing is
// remembered. An attempt that dies before has noted nothing.
func (d *Delivery) Note(key string, value document.Object) error {
	if err := d.keep(key, value); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unstored = append(d.unstored, key)
	return nil
}

// Remember notes something under a key until the event is done, and returns when that is durable, and
// so is all that was noted before. That the event is done already is no error. ResourceExhausted: the attempts have noted MaxRemembered
// things, or MaxRememberedSize bytes; nothing is noted then. The other errors are those of the store.
func (d *Delivery) Remember(ctx context.Context, key string, value document.Object) error {
	if err := d.keep(key, value); err != nil {
		return err
	}
	filter, err := query.CompileFilter(document.O(fieldID, d.ID, fieldState, statePending))
	if err != nil {
		return err
	}
	noted := d.toStore(key)
	update, err := query.CompileUpdate(document.O("$push", document.O(fieldMemory, document.O("$each", noted))))
	if err != nil {
		return err
	}
	_, err = d.inbox.events.Update(ctx, filter, query.Change{Update: update}, store.UpdateOptions{})
	return err
}

// noted is what is noted under a key as the store keeps it.
func noted(key string, value document.Object) document.Object {
	return document.O(fieldMemoryKey, key, fieldMemoryValue, value)
}

// toStore takes what the store does not have yet, with what is noted under a key.
func (d *Delivery) toStore(key string) document.Array {
	d.mu.Lock()
	defer d.mu.Unlock()
	var missing []any
	for _, before := range d.unstored {
		if before != key {
			missing = append(missing, noted(before, d.memory[before]))
		}
	}
	d.unstored = nil
	return document.A(append(missing, noted(key, d.memory[key]))...)
}

// keep keeps what is noted in memory, where there is room for it.
func (d *Delivery) keep(key string, value document.Object) error {
	size := noted(key, value).Size()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.memory) >= MaxRemembered || d.size+size > MaxRememberedSize {
		return boterr.New(boterr.ResourceExhausted, "",
			"the attempts at the event have noted %d things already, of %d bytes: at most %d, of %d bytes together, can be",
			len(d.memory), d.size, MaxRemembered, MaxRememberedSize)
	}
	if d.memory == nil {
		d.memory = map[string]document.Object{}
	}
	d.memory[key] = value
	d.size += size
	return nil
}
