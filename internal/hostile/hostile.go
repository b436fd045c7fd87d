// Package hostile searches for small calls of operations that take long or much: it makes
// them from a seed, runs them over a store of about 20 MB, and goes on from the worst.
package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// The bounds that no call may exceed: time of processors, that of collecting garbage included,
// and memory beside that of the store, what waits to be collected included.
const (
	MostTime   = 2 * time.Second
	MostMemory = 256 << 20
	// MostInput is the length in bytes of the longest parameters.
	MostInput = 64 << 10
)

// Call is a call of an operation.
type Call struct {
	Operation string
	Arguments document.Object
}

// String is the call as it is to be repeated by hand.
func (c Call) String() string {
	text, err := json.Marshal(c.Arguments)
	if err != nil {
		return c.Operation + " " + err.Error()
	}
	const longest = 3_000
	return fmt.Sprintf("%s (%d bytes) %.*s", c.Operation, len(text), longest, text)
}

// Cost is what a call took.
type Cost struct {
	Time time.Duration
	// Memory are the most bytes that there were beside the store, what waited to be collected
	// included.
	Memory uint64
	// Err is what the call answered.
	Err error
}

// isBroken reports whether a call took more than is allowed.
func (c Cost) isBroken() bool { return c.Time > MostTime || c.Memory > MostMemory }

// fitness is the larger part of its bounds that a call took.
func (c Cost) fitness() float64 {
	return max(float64(c.Time)/float64(MostTime), float64(c.Memory)/MostMemory)
}

// String shows the figures.
func (c Cost) String() string {
	return fmt.Sprintf("%v, %d MiB", c.Time.Round(time.Millisecond), c.Memory>>20)
}

// World is a store with data, and the operations on it.
type World struct {
	bot   *botctx.Context
	store store.Store
}

// NewWorld returns the world of a store.
func NewWorld(store store.Store) (*World, error) {
	rt, err := botctx.New(botctx.Config{Store: store})
	if err != nil {
		return nil, err
	}
	scope := record.Scope{App: "app", Channel: "channel", Member: "member"}
	return &World{bot: rt.Operations(scope), store: store}, nil
}

// run runs a call, and returns what it took.
func (w *World) run(ctx context.Context, call Call, meter *meter) (Cost, error) {
	arguments, err := json.Marshal(call.Arguments)
	if err != nil {
		return Cost{}, err
	}
	meter.rest()
	usual := meter.pace()
	defer usual()
	watch := meter.watch()
	before := processorTime()
	_, failed := w.bot.Call(ctx, call.Operation, arguments)
	taken := processorTime() - before
	return Cost{Time: taken, Memory: watch.end(), Err: failed}, nil
}
