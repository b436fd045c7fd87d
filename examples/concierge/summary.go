package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
)

// Tally counts what happens in conversations. It is safe for concurrent use.
type Tally struct {
	mu            sync.Mutex
	conversations int
	turns         int
	messages      int
	entries       int
	operations    map[botctx.Op]int
}

// NewTally returns a Tally at zero.
func NewTally() *Tally { return &Tally{operations: map[botctx.Op]int{}} }

// AddConversation counts a conversation that begins.
func (t *Tally) AddConversation() { t.increment(&t.conversations) }

// AddTurn counts something that a guest says.
func (t *Tally) AddTurn() { t.increment(&t.turns) }

// AddMessage counts a message that was sent, which is a turn as well.
func (t *Tally) AddMessage() {
	t.increment(&t.messages)
	t.increment(&t.turns)
}

func (t *Tally) increment(count *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*count++
}

// Count is the interceptor that counts operations and the entries that they found.
func (t *Tally) Count(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	result, err := next(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.operations[call.Op]++
	t.entries += entriesIn(result)
	return result, err
}

// entriesIn returns how many entries of data sources a result holds.
func entriesIn(result any) int {
	switch result := result.(type) {
	case datasource.FetchDataFromDataSourceResult:
		return len(result.Entries)
	case datasource.FetchGeoNearFromDataSourceResult:
		return len(result.Entries)
	case datasource.FindAndModifyDataFromDataSourceResult:
		if result.Value != nil {
			return 1
		}
	}
	return 0
}

// Print writes the summary of what was counted in a time.
func (t *Tally) Print(out io.Writer, took time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	called := 0
	var byName strings.Builder
	for _, op := range slices.Sorted(maps.Keys(t.operations)) {
		called += t.operations[op]
		fmt.Fprintf(&byName, "    %-36s %6d\n", op, t.operations[op])
	}
	_, err := fmt.Fprintf(out, summary,
		t.conversations, t.turns, called, byName.String(), t.entries, t.messages, took.Seconds())
	return err
}

const summary = `
Summary
  conversations     %6d
  turns             %6d
  operations called %6d
%s  entries found     %6d
  messages sent     %6d
  wall time         %6.2f s
`
