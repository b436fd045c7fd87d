package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/rounds"
)

// chaosEnv is an environment variable with a chaosOrder. If it is set, the test binary accepts and handles
// events.
const chaosEnv = "BOTCTX_SQLITE_CHAOS"

// chaosOrder configures the process of chaosEnv.
type chaosOrder struct {
	chaostest.Order

	Path string `json:"path"`
}

// work accepts and handles events until it is stopped or killed. A killed process loses no write that did not wait for
// the disk.
func (order chaosOrder) work(ctx context.Context) error {
	store, err := sqlite.Open(order.Path, sqlite.WithoutSync())
	if err != nil {
		return err
	}
	if err := chaostest.Work(ctx, order.Order, store, os.Stdin, os.Stdout); err != nil {
		return err
	}
	return store.Close()
}

// platform returns a platform with one process, on a store in the order's file.
func (order chaosOrder) platform(t *testing.T, members int) *chaostest.Platform {
	t.Helper()
	database, err := sqlite.Open(order.Path)
	require.NoError(t, err)
	chaostest.Prepare(t, database, 0)
	require.NoError(t, database.Close())
	own := order
	own.Journal, own.Lease = filepath.Join(t.TempDir(), "journal"), 2*time.Second
	platform := chaostest.NewPlatform(t, own.Journal, members, chaosEnv, own)
	platform.Start(1)
	return platform
}

func TestAccept_SurvivesKills(t *testing.T) {
	t.Parallel()
	const members, lines, millis = 12, 150, 250
	order := chaosOrder{Path: newPath(t)}
	platform := order.platform(t, members)
	kills := rounds.Of(t, 8, 300)
	for kill := range kills {
		if kill%2 == 0 {
			platform.SendFor(time.Duration(platform.Random(millis)) * time.Millisecond) // A short time kills the process while it opens the file.
		} else {
			platform.SendUntilHeard(1 + platform.Random(lines))
		}
		platform.KillOne()
	}
	platform.Send(members)
	platform.Stop()
	database := open(t, order.Path)
	t.Logf("%d kills: %+v", kills, platform.Judge(database))
}

// If handling a message always ends the process, the message becomes a dead letter. Messages that were in
// progress at the same time do not.
func TestAccept_CrashBlamesTheGuiltyEvent(t *testing.T) {
	t.Parallel()
	const members, lines, limit, each = 12, 100, 5, 5
	order := chaosOrder{Path: newPath(t), Order: chaostest.Order{Limit: limit}}
	platform := order.platform(t, members)
	kills := rounds.Of(t, 2, 30)
	for kill := range kills {
		if kill%each == 0 {
			platform.Poison()
		}
		platform.SendUntilHeard(1 + platform.Random(lines))
		platform.KillOne()
	}
	platform.Send(members)
	platform.Stop()
	database := open(t, order.Path)
	t.Logf("%d kills: %+v", kills, platform.Judge(database))
}
