package inbox

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store/query"
)

// Handler handles an event. An error, a panic, and the end of the goroutine are failures. ctx ends with the
// cause lease.ErrLost if the lease is lost, or with ErrShutdown if a shutdown no longer waits for the handler.
// An error that the handler returns after that does not count as a failure.
type Handler func(ctx context.Context, d *Delivery) error

// Delivery is one attempt to handle an event.
type Delivery struct {
	// ID is the event's id in the inbox.
	ID string
	// Event is the event. AcceptedAt is the time of its acceptance.
	Event      Event
	AcceptedAt time.Time
	// Attempt is the number of the attempt, starting with 1.
	Attempt int

	inbox *Inbox
	held  *lease.Lease
	// failures is the number of failed attempts.
	failures int
	// mu guards memory, which has the values remembered by attempts. noted are the keys of values that were not stored at
	// once, in order. stored is the number of the first of them that are in the store now.
	mu     sync.Mutex
	memory map[string]document.Object
	noted  []string
	stored int
	// size is the size of memory in bytes.
	size int
}

// All attempts at an event together can remember at most MaxRemembered values with MaxRememberedSize bytes. The
// values are stored with the event until it is done.
const (
	MaxRemembered     = 1000
	MaxRememberedSize = 1 << 20
)

// Fields of a remembered value.
const (
	fieldMemoryKey   = "key"
	fieldMemoryValue = "value"
)

// deliver returns the delivery of an event under a lease.
func (b *Inbox) deliver(e stored, held *lease.Lease) *Delivery {
	d := &Delivery{
		ID: e.id, Event: e.Event, AcceptedAt: document.Timestamp(e.acceptedAt).Time(), Attempt: int(e.attempts()) + 1,
		inbox: b, held: held, failures: int(e.failures),
	}
	for _, item := range e.memory.All() {
		d.recollect(item)
	}
	for _, item := range e.noted.All() { // These are newer.
		d.noted = append(d.noted, d.recollect(item))
	}
	return d
}

// recollect adds a stored value to memory and returns its key.
func (d *Delivery) recollect(item any) (key string) {
	if d.memory == nil {
		d.memory = map[string]document.Object{}
	}
	value, _ := item.(document.Object)
	key = document.Get(value, fieldMemoryKey, "")
	d.memory[key] = document.Get(value, fieldMemoryValue, document.O())
	d.size += value.Size()
	return key
}

// Lease returns the lease of the event's lane.
func (d *Delivery) Lease() *lease.Lease { return d.held }

// Err returns lease.ErrLost if another process may have the lease. Then the handler should stop, because its
// result will not be stored.
func (d *Delivery) Err() error { return d.held.Err() }

// IsErased reports whether Erase has removed the event since the attempt was prepared. Then the handler should do
// nothing. In a store that processes share, callers of Erase must hold the lease of the event's lane instead.
func (d *Delivery) IsErased() bool {
	alone, ok := d.inbox.source.(*exclusive)
	return ok && alone.isErased(d.held.Lane(), d.ID)
}

// IsLast reports whether the event becomes a dead letter if this attempt fails.
func (d *Delivery) IsLast() bool { return d.failures+1 >= d.inbox.config.Limit }

// Recall returns the value that this attempt or an earlier one remembered under a key.
func (d *Delivery) Recall(key string) (document.Object, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, ok := d.memory[key]
	return value, ok
}

// Note is Remember without a separate write: the value becomes durable with the next Remember, or with the failure of the
// attempt if another one follows. If the process dies before that, the value is lost. ResourceExhausted: see Remember.
func (d *Delivery) Note(key string, value document.Object) error {
	if err := d.keep(key, value); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted = append(d.noted, key)
	return nil
}

// Remember stores a value under a key until the event is done. It returns when this value and all values of Note are
// durable. If the event is already done, there is no error. Remember returns ResourceExhausted, and stores nothing,
// if the attempts have already remembered MaxRemembered values or MaxRememberedSize bytes. Other errors come from the
// store; then the value becomes durable with the next Remember.
func (d *Delivery) Remember(ctx context.Context, key string, value document.Object) error {
	if err := d.keep(key, value); err != nil {
		return err
	}
	values, upTo := d.toStore(key)
	// values has the values that the last attempt noted, unless they are in the memory already.
	update, err := query.CompileUpdate(document.O(
		"$push", document.O(fieldMemory, document.O("$each", values)), "$unset", document.O(fieldNoted, true)))
	if err != nil {
		return err
	}
	_, err = d.inbox.update(ctx, document.O(fieldID, d.ID, fieldState, statePending), update, document.Object{})
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.noted = append(d.noted, key)
		return err
	}
	d.stored = max(d.stored, upTo)
	return nil
}

// noted returns the stored form of a value under a key.
func noted(key string, value document.Object) document.Object {
	return document.O(fieldMemoryKey, key, fieldMemoryValue, value)
}

// toStore returns the noted values that are not in the store yet, and the value under key unless it is "". Once they
// are in the store, the caller sets stored to upTo, unless it is larger.
func (d *Delivery) toStore(key string) (values document.Array, upTo int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []any
	for _, other := range d.noted[d.stored:] {
		if other != key {
			all = append(all, noted(other, d.memory[other]))
		}
	}
	if key != "" {
		all = append(all, noted(key, d.memory[key]))
	}
	return document.A(all...), len(d.noted)
}

// keep adds a value to memory if there is room for it.
func (d *Delivery) keep(key string, value document.Object) error {
	size := noted(key, value).Size()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.memory) >= MaxRemembered || d.size+size > MaxRememberedSize {
		return boterr.New(boterr.ResourceExhausted, "",
			"the attempts at the event already remember %d values with %d bytes, and can remember at most %d with %d: store less",
			len(d.memory), d.size, MaxRemembered, MaxRememberedSize)
	}
	if d.memory == nil {
		d.memory = map[string]document.Object{}
	}
	d.memory[key] = value
	d.size += size
	return nil
}
