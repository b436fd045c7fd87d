package bolt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// crashEnv tells the test's program to be the process that is killed.
const crashEnv = "BOTCTX_BOLT_CRASH_WRITER"

// crashOrder is what that process is told.
type crashOrder struct {
	Path string `json:"path"`
	// Next is the number of each writer's next write.
	Next [crashWriters]int `json:"next"`
}

func TestMain(m *testing.M) {
	var err error
	if text, isWriter := os.LookupEnv(crashEnv); isWriter {
		err = obey(text, crashOrder.writeUntilKilled)
	} else if text, isWorker := os.LookupEnv(chaosEnv); isWorker {
		err = obey(text, chaosOrder.work)
	} else if text, isWorker := os.LookupEnv(agendaEnv); isWorker {
		err = obey(text, agendaOrder.work)
	} else {
		m.Run()
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// obey does what an order says.
func obey[O any](text string, do func(O, context.Context) error) error {
	var order O
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	return do(order, context.Background())
}

// writeUntilKilled writes with all writers, and reports each write that was answered
// before the next. Meanwhile, the store is compacted and backed up again and again.
func (order crashOrder) writeUntilKilled(ctx context.Context) error {
	store, err := bolt.Open(order.Path)
	if err != nil {
		return err
	}
	for collection, index := range crashIndexes() {
		if err := store.Collection(collection).EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	failed := make(chan error)
	var all sync.WaitGroup
	for writer, number := range order.Next {
		all.Go(func() {
			for ; ; number++ {
				changed, err := writeOf(writer, number).run(ctx, store)
				if err != nil {
					failed <- err
					return
				}
				fmt.Println(writer, number, changed) //nolint:forbidigo // To the one who kills this process.
			}
		})
	}
	all.Go(func() {
		for range time.Tick(50 * time.Millisecond) {
			if err := store.Compact(ctx); err != nil {
				failed <- err
				return
			}
			if err := store.Backup(ctx, io.Discard); err != nil {
				failed <- err
				return
			}
		}
	})
	return <-failed
}

// crashIndexes are the indexes of the collections.
func crashIndexes() map[string]store.Index {
	return map[string]store.Index{
		"items": {Keys: []store.IndexKey{
			{Path: "writer", Kind: query.Ascending}, {Path: "key", Kind: query.Ascending},
		}, Unique: true},
		"claims": {Keys: ascending("slot"), Unique: true},
	}
}
