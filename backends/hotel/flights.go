package hotel

import (
	"context"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// flights runs at most one function for each key at a time. Callers with the same key share its result.
type flights[K comparable, V any] struct {
	mu    sync.Mutex
	under map[K]*flight[V]
}

type flight[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// do runs a function, or waits for the one that is already running. The function continues if the caller's ctx
// ends, so it must limit its own time.
func (f *flights[K, V]) do(ctx context.Context, key K, run func(context.Context) (V, error)) (V, error) {
	var none V
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	f.mu.Lock()
	current := f.under[key]
	if current == nil {
		current = &flight[V]{done: make(chan struct{})}
		if f.under == nil {
			f.under = map[K]*flight[V]{}
		}
		f.under[key] = current
		go f.run(context.WithoutCancel(ctx), key, current, run)
	}
	f.mu.Unlock()
	select {
	case <-current.done:
		return current.value, current.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (f *flights[K, V]) run(ctx context.Context, key K, current *flight[V], run func(context.Context) (V, error)) {
	defer func() {
		f.mu.Lock()
		delete(f.under, key)
		f.mu.Unlock()
		close(current.done)
	}()
	defer boterr.Recover(&current.err)
	current.value, current.err = run(ctx)
}
