package inbox

import (
	"context"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// Handler handles an event. An error, a panic, and the end of its goroutine are failures. ctx ends
// with the cause lease.ErrLost where the turn is lost, and with ErrShutdown where a shutdown does
// not wait any longer; an error that it returns then is no failure of the event.
type Handler func(ctx context.Context, d *Delivery) error

// Delivery is one attempt to handle an event.
type Delivery struct {
	// ID is the event's id in the inbox.
	ID string
	// Event is the event.
	Event Event
	// Attempt counts the attempts, from 1 on.
	Attempt int

	inbox *Inbox
	turn  *lease.Turn
	// mu guards memory: what attempts have noted, by its key.
	mu     sync.Mutex
	memory map[string]document.Object
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
		ID: e.id, Event: e.Event, Attempt: int(e.failures) + 1, inbox: b, turn: turn, memory: map[string]document.Object{},
	}
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

// Remember notes something under a key until the event is done, and returns when that is durable.
// That the event is done already is no error. ResourceExhausted: the attempts have noted MaxRemembered
// things, or MaxRememberedSize bytes; nothing is noted then. The other errors are those of the store.
func (d *Delivery) Remember(ctx context.Context, key string, value document.Object) error {
	noted := document.O(fieldMemoryKey, key, fieldMemoryValue, value)
	if err := d.keep(key, value, noted); err != nil {
		return err
	}
	filter, err := query.CompileFilter(document.O(fieldID, d.ID, fieldState, statePending))
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O("$push", document.O(fieldMemory, noted)))
	if err != nil {
		return err
	}
	_, err = d.inbox.events.Update(ctx, filter, query.Change{Update: update}, store.UpdateOptions{})
	return err
}

// keep keeps what is noted in memory, where there is room for it.
func (d *Delivery) keep(key string, value, noted document.Object) error {
	size := noted.Size()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.memory) >= MaxRemembered || d.size+size > MaxRememberedSize {
		return boterr.New(boterr.ResourceExhausted, "",
			"the attempts at the event have noted %d things already, of %d bytes: at most %d, of %d bytes together, can be",
			len(d.memory), d.size, MaxRemembered, MaxRememberedSize)
	}
	d.memory[key] = value
	d.size += size
	return nil
}
