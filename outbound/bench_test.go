package outbound_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/outbound"
)

// BenchmarkFetch_Memory reports the largest heap while 64 runs of 8 apps at once fetch 24 kB of gzip that
// unpack to 25 MB.
func BenchmarkFetch_Memory(b *testing.B) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, err := zip.Write(make([]byte, outbound.DefaultMaxResponseBytes))
	require.NoError(b, err)
	require.NoError(b, zip.Close())
	network := newNetwork(b)
	network.resolves("example.com", somewhere)
	network.serves(somewhere+":80", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	client := network.client(outbound.Config{})
	stop, watched := make(chan struct{}), make(chan uint64)
	go func() { watched <- largestHeap(stop) }()
	for b.Loop() {
		var runs sync.WaitGroup
		for i := range 64 {
			runs.Go(func() {
				owner := outbound.NewOwner(strconv.Itoa(i%8), "c")
				defer owner.Release()
				if err := getBytes(b.Context(), client, owner, outbound.DefaultMaxResponseBytes); err != nil {
					b.Error(err)
				}
			})
		}
		runs.Wait()
	}
	close(stop)
	b.ReportMetric(float64(<-watched)/(1<<20), "MB-heap")
}

// largestHeap returns the largest heap until stop is closed.
func largestHeap(stop <-chan struct{}) (most uint64) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return most
		case <-ticker.C:
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
		}
	}
}
