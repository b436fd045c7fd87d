package bolt_test

import (
	"testing"

	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
)

// BenchmarkInbox has as many workers as producers. All that it accepts and handles is on disk.
func BenchmarkInbox(b *testing.B) {
	inboxtest.Benchmark(b, open(b, newPath(b)), inboxtest.Load{Members: 1000, Producers: 64, Workers: 64})
}
