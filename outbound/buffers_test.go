package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

const (
	// freeBytes is the part of a response that needs no memory from the shared limit. longBytes is longer.
	freeBytes = 256 << 10
	longBytes = 1 << 20
)

// longAnswers answers with as many bytes as the URL's path says. It counts the bytes read beyond freeBytes.
type longAnswers struct{ read atomic.Int64 }

func (l *longAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	length, err := strconv.ParseInt(strings.TrimPrefix(req.URL.Path, "/"), 10, 64)
	if err != nil {
		return nil, err
	}
	body := &countedBody{of: l, left: length, free: freeBytes}
	return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: body}, nil
}

type countedBody struct {
	of         *longAnswers
	left, free int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), b.left, 10_000)
	clear(p[:n])
	b.left -= n
	free := min(b.free, n)
	b.free -= free
	b.of.read.Add(n - free)
	return int(n), nil
}

func (b *countedBody) Close() error { return nil }

// buffering returns a client whose memory fits the given number of long responses.
func buffering(t *testing.T, places int64) (*outbound.Client, *longAnswers) {
	t.Helper()
	answers := &longAnswers{}
	return newClient(t, outbound.Config{
		Transport: answers, MaxResponseBytes: longBytes, MaxBufferedBytes: places * longBytes,
	}), answers
}

// getBytes fetches a response of the given length on behalf of owner.
func getBytes(ctx context.Context, client *outbound.Client, owner *outbound.Owner, length int) error {
	response, err := outbound.Fetch(outbound.WithOwner(ctx, owner), client, outbound.Request{
		URL: "http://example.com/" + strconv.Itoa(length),
	})
	if err == nil && len(response.Body) != length {
		return boterr.New(boterr.Internal, "", "the body has %d bytes", len(response.Body))
	}
	return err
}

// Each run keeps its response until the test releases it. The memory beyond the free part of each response must stay
// within the limit, and each run must get its response.
func TestFetch_BufferedBytesBounded(t *testing.T) {
	t.Parallel()
	for _, apps := range []int{1, 4, 64} {
		synctest.Test(t, func(t *testing.T) {
			const places, runs = 4, 64
			client, answers := buffering(t, places)
			var mu sync.Mutex
			var done []*outbound.Owner
			for i := range runs {
				go func() {
					owner := outbound.NewOwner(strconv.Itoa(i%apps), "c")
					if err := getBytes(t.Context(), client, owner, longBytes); err != nil {
						t.Errorf("run %d: %v", i, err)
					}
					mu.Lock()
					defer mu.Unlock()
					done = append(done, owner)
				}()
			}
			released := int64(0)
			for released < runs {
				synctest.Wait()
				mu.Lock()
				ready := done
				done = nil
				mu.Unlock()
				require.NotEmpty(t, ready, "after %d", released)
				held := answers.read.Load() - released*(longBytes-freeBytes)
				require.LessOrEqual(t, held, int64(places*longBytes))
				for _, owner := range ready {
					released++
					owner.Release()
				}
			}
		})
	}
}

func TestFetch_LongAnswersOfAnApp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := buffering(t, 4)
		ctx, cancel := context.WithCancel(t.Context())
		for range 64 {
			go func() { _ = getBytes(ctx, client, outbound.NewOwner("a", "c"), longBytes) }() // The owner is never released.
		}
		synctest.Wait()
		require.NoError(t, getBytes(t.Context(), client, outbound.NewOwner("b", "c"), longBytes))
		require.NoError(t, getBytes(t.Context(), client, outbound.NewOwner("a", "c"), freeBytes))
		cancel()
		synctest.Wait()
	})
}

func TestFetch_BufferedBytesTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := buffering(t, 1)
		holder := outbound.NewOwner("a", "c")
		require.NoError(t, getBytes(t.Context(), client, holder, longBytes))
		begun := time.Now() //nolint:forbidigo // The clock of the bubble.
		err := getBytes(t.Context(), client, outbound.NewOwner("b", "c"), longBytes)
		requireCode(t, err, boterr.ResourceExhausted, "")
		require.ErrorContains(t, err, "the response of example.com has more than 256 kB")
		require.ErrorContains(t, err, "outbound.Config.MaxBufferedBytes")
		require.Equal(t, outbound.DefaultTimeout, time.Since(begun)) //nolint:forbidigo // As above.

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- getBytes(ctx, client, outbound.NewOwner("b", "c"), longBytes) }()
		synctest.Wait()
		cancel()
		requireCode(t, <-ended, boterr.Canceled, "")

		holder.Release()
		holder.Release()
		require.NoError(t, getBytes(t.Context(), client, outbound.NewOwner("b", "c"), longBytes), "nobody who gave up has it")
	})
}

func TestFetch_OwnerNeverWaitsForItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := buffering(t, 1)
		owner := outbound.NewOwner("a", "c")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := getBytes(t.Context(), client, owner, longBytes); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		other, _ := buffering(t, 1)
		require.NoError(t, getBytes(t.Context(), other, owner, longBytes))
		require.NoError(t, getBytes(t.Context(), other, outbound.NewOwner("b", "c"), longBytes), "it holds memory of one client")
		owner.Release()
		require.NoError(t, getBytes(t.Context(), client, owner, longBytes), "what it fetches later is held until it is read")
		require.NoError(t, getBytes(t.Context(), client, outbound.NewOwner("b", "c"), longBytes))
	})
}

func TestFetch_WithoutOwnerHoldsNothing(t *testing.T) {
	t.Parallel()
	client, _ := buffering(t, 1)
	for _, length := range []int{0, freeBytes, freeBytes + 1, longBytes, longBytes} {
		response, err := get(t, client, "http://example.com/"+strconv.Itoa(length))
		require.NoError(t, err)
		require.Len(t, response.Body, length)
		require.LessOrEqual(t, cap(response.Body), longBytes+1)
	}
	_, err := get(t, client, "http://example.com/"+strconv.Itoa(longBytes+1))
	requireCode(t, err, boterr.ResourceExhausted, "")
	_, err = get(t, client, "http://example.com/"+strconv.Itoa(longBytes))
	require.NoError(t, err)
}

func TestNew_LongAnswersRaiseTheMemory(t *testing.T) {
	t.Parallel()
	_, err := outbound.New(outbound.Config{MaxResponseBytes: 2 * outbound.DefaultMaxBufferedBytes})
	require.NoError(t, err)
}

// BenchmarkFetch_Memory reports the largest heap while 64 concurrent runs of 8 apps each fetch a 24 kB gzip body that
// unpacks to 25 MB.
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
