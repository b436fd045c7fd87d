package send

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
)

// deliverAll sends every message, whatever becomes of the others, Ports.ParallelSends at
// once. The results are in the order of the messages; those that failed say why.
func (s *Service) deliverAll(ctx context.Context, connector Connector, messages []Message) ([]Result, error) {
	results := make([]Result, len(messages))
	var taken atomic.Int64
	work := func() {
		for i := taken.Add(1) - 1; i < int64(len(messages)); i = taken.Add(1) - 1 {
			results[i] = s.try(ctx, connector, messages[i])
		}
	}
	var others sync.WaitGroup
	for range min(s.ports.ParallelSends, len(messages)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return results, undelivered(ctx, messages, results)
}

// try sends one message of several. A panic of the connector is the error of that message
// alone.
func (s *Service) try(ctx context.Context, connector Connector, message Message) (result Result) {
	defer func() {
		if thrown := recover(); thrown != nil {
			result = Result{Err: boterr.Recovered(thrown)}
		}
	}()
	result, err := deliver(ctx, s.env, connector, message)
	if err != nil {
		return Result{Err: err}
	}
	return result
}
