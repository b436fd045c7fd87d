package sqlite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/chaostest"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	port "github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// chaosEnv is an environment variable with a chaosOrder. If it is set, the test binary accepts and handles
// events.
const chaosEnv = "BOTCTX_SQLITE_CHAOS"

// chaosOrder configures the process of chaosEnv.
type chaosOrder struct {
	chaostest.Order

	Path string `json:"path"`
}

// work accepts and handles events until it is stopped or killed.
func (order chaosOrder) work(ctx context.Context) error {
	store, err := sqlite.Open(order.Path)
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
	kills := rounds.Of(t, each, 30)
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

// agendaEnv is an environment variable with an agendaOrder. If it is set, the test binary runs agendas.
const agendaEnv = "BOTCTX_SQLITE_AGENDAS"

// agendaOrder has the path of the store.
type agendaOrder struct {
	Path string `json:"path"`
}

const (
	// deadly is the tag of an agenda that ends the process.
	deadly = "deadly"
	// deadlyCode is the exit code of a process that such an agenda ended.
	deadlyCode = 7
	// agendaLimit is the number of failures after which an agenda has failed permanently.
	agendaLimit = 4
)

// work runs agendas until all have completed or failed. It prints the id of each agenda that starts.
func (order agendaOrder) work(ctx context.Context) error {
	store, err := sqlite.Open(order.Path)
	if err != nil {
		return err
	}
	if err := endLeases(ctx, store); err != nil {
		return err
	}
	scheduler, err := agendas.NewScheduler(agendas.SchedulerConfig{
		Env: record.Env{Store: store},
		SchedulerOptions: agendas.SchedulerOptions{
			Limit: agendaLimit, Lease: 30 * time.Minute, Poll: 5 * time.Millisecond,
			Backoff: func(int) time.Duration { return time.Millisecond },
		},
		Handler: func(_ context.Context, run agenda.Run) error {
			fmt.Println(run.Agenda.ID) //nolint:forbidigo // The test reads the output.
			<-time.After(10 * time.Millisecond)
			if run.Agenda.Tag == deadly {
				os.Exit(deadlyCode) //nolint:revive // Like a crash.
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- scheduler.Run(running) }()
	for isOpen := true; isOpen && err == nil; <-time.After(10 * time.Millisecond) {
		var open int
		open, err = openAgendas(ctx, store)
		isOpen = open > 0
	}
	stop()
	if err == nil {
		err = <-ended
	}
	if err != nil {
		return err
	}
	return store.Close()
}

// endLeases ends the leases of agendas. They belong to dead processes, because this process has exclusive use
// of the file. Without endLeases, the test would depend on the machine's speed.
func endLeases(ctx context.Context, store *sqlite.Store) error {
	leased, err := query.CompileFilter(document.O(lease.FieldUntil, document.O("$gt", 0)))
	if err != nil {
		return err
	}
	now, err := store.Now(ctx)
	if err != nil {
		return err
	}
	ended, err := lease.Renewal(now.Add(-time.Millisecond))
	if err != nil {
		return err
	}
	_, err = store.Collection("agendas").Update(ctx, leased, ended, port.UpdateOptions{Multi: true})
	return err
}

// openAgendas returns the number of agendas that have neither completed nor failed permanently.
func openAgendas(ctx context.Context, store *sqlite.Store) (open int, err error) {
	found, err := agendasIn(store).Find(ctx, record.Query{})
	for _, r := range found {
		if !r.Completed && !r.Failed {
			open++
		}
	}
	return open, err
}

func agendasIn(store *sqlite.Store) *agendas.Service {
	return agendas.New(record.Env{Store: store}, record.Scope{App: "app"}, agendas.Ports{Members: anyMember{}})
}

// live starts a process that runs agendas, and kills it once it has started the given number of runs. It returns
// the ids of the started agendas, and the exit code.
func (order agendaOrder) live(t *testing.T, runs int) (began []string, code int) {
	t.Helper()
	text, err := json.Marshal(order)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env, command.Stderr = append(os.Environ(), agendaEnv+"="+string(text)), os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if began = append(began, lines.Text()); len(began) == runs {
			require.NoError(t, command.Process.Kill())
		}
	}
	_ = command.Wait()
	return began, command.ProcessState.ExitCode()
}

// anyMember returns a member for every id.
type anyMember struct{}

func (anyMember) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "c"}, nil
}

func (order agendaOrder) add(t *testing.T, tag string, number int) (ids []string) {
	t.Helper()
	store, err := sqlite.Open(order.Path)
	require.NoError(t, err)
	agendas := agendasIn(store)
	for i := range number {
		made, err := agendas.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: fmt.Sprint("m", i), NodeCompositeID: "n", Tag: tag, NextRunAt: document.TimestampOf(time.Now()), //nolint:forbidigo // Real time.
		})
		require.NoError(t, err)
		ids = append(ids, made.ID)
	}
	require.NoError(t, store.Close())
	return ids
}

// An agenda that always ends the process fails permanently. Agendas that run at the same time do not, even if
// the process is also killed at random times. Each completes under its own id, and none is lost.
func TestAgendas_CrashBlamesTheGuiltyOne(t *testing.T) {
	t.Parallel()
	const each, number = 10, 12
	random := rand.New(rand.NewPCG(1, 1))
	order := agendaOrder{Path: newPath(t)}
	want, ran := map[string]string{}, map[string]bool{}
	live := func(runs int) int {
		began, code := order.live(t, runs)
		for _, id := range began {
			ran[id] = true
		}
		return code
	}
	add := func(tag string, number int) {
		for _, id := range order.add(t, tag, number) {
			want[id] = tag
		}
	}
	for kill := range rounds.Of(t, 6, 30) {
		if kill%each == 0 {
			add(deadly, 1)
		}
		add("", number)
		require.NotZero(t, live(1+random.IntN(2*number)), "the process is to be killed amid its work")
	}
	deaths := 0
	for code := deadlyCode; code != 0; deaths++ {
		require.Equal(t, deadlyCode, code)
		require.Less(t, deaths, 100)
		code = live(-1)
	}
	store := open(t, order.Path)
	found, err := agendasIn(store).Find(t.Context(), record.Query{})
	require.NoError(t, err)
	require.Len(t, found, len(want))
	require.Len(t, ran, len(want))
	for _, r := range found {
		tag, isKnown := want[r.ID]
		require.True(t, isKnown && ran[r.ID], "%s under another id", r.ID)
		require.Equal(t, tag == deadly, r.Failed, "%+v", r)
		require.Equal(t, tag != deadly, r.Completed, "%+v", r)
	}
}
