package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// reading returns what reads a stored channel with what its platform needs to know, as each turn does twice.
func reading(tb testing.TB) func() error {
	tb.Helper()
	stored, err := document.Encode(channel.Channel{
		ID: "shop", App: "bakery", Name: "Shop", On: true, Type: channel.Alpha, CreatedAt: 1, UpdatedAt: 2, Etag: "2", Version: 1,
		Info: channel.AlphaInfo{PageID: "1", AccessToken: channel.NewSecret("token")},
	})
	require.NoError(tb, err)
	return func() error { return document.Decode(stored, new(channel.Channel)) }
}

func BenchmarkRead(b *testing.B) {
	read := reading(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := read(); err != nil {
			b.Fatal(err)
		}
	}
}

// Most of what is allocated seals the one credential.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestRead_AllocatesLittle(t *testing.T) {
	read := reading(t)
	var failed error
	allocated := testing.AllocsPerRun(200, func() {
		if err := read(); err != nil {
			failed = err
		}
	})
	require.NoError(t, failed)
	require.LessOrEqual(t, allocated, 20.0)
}
