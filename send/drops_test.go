package send_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

func TestDrops_LoggedAndCounted(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	drops := &send.Drops{Logger: slog.New(slog.NewTextHandler(&lines, nil))}
	reaction := send.Drop{Platform: channel.Charlie, App: "shop", Channel: "desk", Kind: "reaction_added", Reason: send.DropUnsupported}
	echo := send.Drop{Platform: channel.Charlie, App: "shop", Channel: "desk", Kind: "message", Reason: send.DropFromBot}
	for _, drop := range []send.Drop{reaction, echo, reaction} {
		drops.Add(t.Context(), drop)
	}
	require.Equal(t, []send.DropCount{
		{Platform: channel.Charlie, Kind: "message", Reason: send.DropFromBot, Count: 1},
		{Platform: channel.Charlie, Kind: "reaction_added", Reason: send.DropUnsupported, Count: 2},
	}, drops.Counts())
	require.Equal(t, 2, strings.Count(lines.String(),
		`msg="event dropped" platform=charlie app=shop channel=desk kind=reaction_added reason=unsupported`))
	require.NotContains(t, lines.String(), "from_bot", "what bots write is told at debug")
}

func TestDrops_UnverifiedIsLoggedOnceForAChannel(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	drops := &send.Drops{Logger: slog.New(slog.NewTextHandler(&lines, nil))}
	for range 3 {
		for _, id := range []string{"desk", "shop"} {
			drops.AddUnverified(t.Context(), &channel.Channel{Type: channel.Charlie, App: "tea", ID: id}, errors.New("set signingSecret"))
		}
	}
	require.Equal(t, []send.DropCount{{Platform: channel.Charlie, Kind: "request", Reason: send.DropNoSecret, Count: 6}}, drops.Counts())
	require.Equal(t, 2, strings.Count(lines.String(), "level=WARN"))
	require.Contains(t, lines.String(), `msg="requests refused" platform=charlie app=tea channel=shop error="set signingSecret"`)
}

func TestDrops_KindsAreBounded(t *testing.T) {
	t.Parallel()
	drops := &send.Drops{Logger: slog.New(slog.DiscardHandler)}
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			drops.Add(t.Context(), send.Drop{Kind: strconv.Itoa(i) + strings.Repeat("x", 1000), Reason: send.DropUnsupported})
		})
	}
	all.Wait()
	counts, sum := drops.Counts(), int64(0)
	require.Len(t, counts, 501)
	require.Equal(t, send.DropCount{Kind: send.OtherKinds, Reason: send.DropUnsupported, Count: 500}, counts[500])
	for _, one := range counts {
		require.LessOrEqual(t, len(one.Kind), 100)
		sum += one.Count
	}
	require.EqualValues(t, 1000, sum)
}

// A kind that is not UTF-8 would fail every export of the counts by OpenTelemetry.
func TestDrops_KindIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	drops := &send.Drops{Logger: slog.New(slog.DiscardHandler)}
	drops.Add(t.Context(), send.Drop{Kind: "x" + strings.Repeat("é", 80), Reason: send.DropInvalid})
	require.Equal(t, "x"+strings.Repeat("é", 49), drops.Counts()[0].Kind)
}
