package bolt_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/rounds"
)

// chaosEnv tells the test's program to be the process that accepts and handles events.
const chaosEnv = "BOTCTX_BOLT_CHAOS"

// chaosOrder is what that process is told.
type chaosOrder struct {
	chaostest.Order

	Path string `json:"path"`
}

// work accepts and handles events, until it is told to end, or killed.
func (order chaosOrder) work(ctx context.Context) error {
	store, err := bolt.Open(order.Path)
	if err != nil {
		return err
	}
	if err := chaostest.Work(ctx, order.Order, store, os.Stdin, os.Stdout); err != nil {
		return err
	}
	return store.Close()
}

// platform returns a platform over a store in a file, with one process, and the file's path.
func (order chaosOrder) platform(t *testing.T, members int) *chaostest.Platform {
	t.Helper()
	database, err := bolt.Open(order.Path)
	require.NoError(t, err)
	chaostest.Prepare(t, database, 0)
	require.NoError(t, database.Close())
	own := order
	own.Journal, own.Lease = filepath.Join(t.TempDir(), "journal"), 2*time.Second
	text, err := json.Marshal(own)
	require.NoError(t, err)
	platform := chaostest.NewPlatform(t, own.Journal, members, func() *exec.Cmd {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), chaosEnv+"="+string(text))
		return command
	})
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
			platform.SendFor(time.Duration(platform.Random(millis)) * time.Millisecond) // Some still open the file.
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

// A message that ends each process that runs it becomes a dead letter; those beside it never do.
func TestAccept_CrashBlamesTheGuiltyEvent(t *testing.T) {
	t.Parallel()
	const members, lines, limit, each = 12, 100, 5, 5
	order := chaosOrder{Path: newPath(t), Order: chaostest.Order{Limit: limit}}
	platform := order.platform(t, members)
	kills := rounds.Of(t, 2*each, 30)
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
