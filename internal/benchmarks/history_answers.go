package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/outbound"
)

// unpacked is the number of bytes of an answer that is sent as 24 kB.
const unpacked = 25 << 20

// printAnswers prints the most memory that fetches of a small body which unpacks to a large one take together.
func printAnswers(ctx context.Context, out *strings.Builder) error {
	server, err := packedServer()
	if err != nil {
		return err
	}
	defer server.Close()
	client, err := outbound.New(outbound.Config{Allow: []string{"127.0.0.1"}})
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	fmt.Fprint(out, "| fetches at once of 24 kB that unpack to 25 MB | most memory in use | answers |\n|---|---|---|\n")
	for _, count := range []int{1, 8, 64} {
		most, answered := peak(func() int64 { return fetchAll(ctx, client, server.URL, count) })
		fmt.Fprintf(out, "| %d | %d MB | %d |\n", count, most>>20, answered)
	}
	return nil
}

// packedServer returns a server of the answer.
func packedServer() (*httptest.Server, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(make([]byte, unpacked)); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes()) // Who has gone needs no answer.
	})), nil
}

// fetchAll fetches so many times at once, and returns how many answers came.
func fetchAll(ctx context.Context, client *outbound.Client, url string, count int) int64 {
	var fetches sync.WaitGroup
	var answered atomic.Int64
	for range count {
		fetches.Go(func() {
			if answer, err := outbound.Fetch(ctx, client, outbound.Request{URL: url}); err == nil && len(answer.Body) == unpacked {
				answered.Add(1)
			}
		})
	}
	fetches.Wait()
	return answered.Load()
}

// peak returns the most bytes of the heap that are in use during work, garbage included, beyond those before it.
func peak(work func() int64) (most, done int64) {
	before, ended := heap(), make(chan struct{})
	var watched sync.WaitGroup
	watched.Go(func() {
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			most = max(most, int64(stats.HeapAlloc)-before)
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
		}
	})
	done = work()
	close(ended)
	watched.Wait()
	return most, done
}
