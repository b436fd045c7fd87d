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

func TestAccept_SurvivesKills(t *testing.T) {
	t.Parallel()
	const members, lines, millis = 12, 150, 250
	path := newPath(t)
	database, err := bolt.Open(path)
	require.NoError(t, err)
	chaostest.Prepare(t, database, 0)
	require.NoError(t, database.Close())
	order := chaosOrder{
		Path: path, Order: chaostest.Order{Journal: filepath.Join(t.TempDir(), "journal"), Lease: 2 * time.Second},
	}
	text, err := json.Marshal(order)
	require.NoError(t, err)
	platform := chaostest.NewPlatform(t, order.Journal, members, func() *exec.Cmd {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), chaosEnv+"="+string(text))
		return command
	})
	platform.Start(1)
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
	database = open(t, path)
	t.Logf("%d kills: %+v", kills, platform.Judge(database))
}
