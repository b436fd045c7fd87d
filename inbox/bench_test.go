package inbox_test

import (
	"testing"

	"github.com/botctx/go-sdk/inbox/inboxtest"
	"github.com/botctx/go-sdk/store/memstore"
)

func BenchmarkMembers(b *testing.B) {
	inboxtest.Benchmark(b, memstore.New(), inboxtest.Load{Members: 1000, Producers: 4})
}

func BenchmarkOneMember(b *testing.B) {
	inboxtest.Benchmark(b, memstore.New(), inboxtest.Load{Members: 1, Producers: 4})
}
