package inbox_test

import (
	"fmt"
	"testing"

	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func BenchmarkMembers(b *testing.B) {
	inboxtest.Benchmark(b, memstore.New(), inboxtest.Load{Members: 1000, Producers: 4})
}

func BenchmarkOneMember(b *testing.B) {
	inboxtest.Benchmark(b, memstore.New(), inboxtest.Load{Members: 1, Producers: 4})
}

// BenchmarkNeighbour is one app's latency beside another one whose runs hang, in both feeds.
func BenchmarkNeighbour(b *testing.B) {
	for _, hung := range []int{0, 16, 64, 1000} {
		b.Run(fmt.Sprintf("alone/hung=%d", hung), func(b *testing.B) {
			inboxtest.BenchmarkNeighbour(b, memstore.New(), hung)
		})
		b.Run(fmt.Sprintf("shared/hung=%d", hung), func(b *testing.B) {
			inboxtest.BenchmarkNeighbour(b, struct{ store.Store }{memstore.New()}, hung)
		})
	}
}
