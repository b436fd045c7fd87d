package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// crashWriters is the number of goroutines that write while the process is killed.
const crashWriters = 8

// crashWrite is one write of a writer. All writers compete for claims and increment the same counter. Their other
// writes are random operations on a collection of the writer.
type crashWrite struct{ writer, number int }

func (w crashWrite) isClaim() bool { return w.number%4 == 2 }
func (w crashWrite) isCount() bool { return w.number%4 == 3 }

func (w crashWrite) collection() string { return fmt.Sprint("writer ", w.writer) }

// run carries out the write. It returns false if the store refused it.
func (w crashWrite) run(ctx context.Context, database store.Store) (isDone bool, err error) {
	switch {
	case w.isClaim():
		err = database.Collection("claims").Insert(ctx, document.O("_id", w.number, "writer", w.writer))
	case w.isCount():
		err = countUp(ctx, database, 1)
	default:
		_, do := storetest.RandomOperation(uint64(w.writer), w.number)
		_, err = do(ctx, database.Collection(w.collection()))
	}
	switch boterr.CodeOf(err) {
	case boterr.AlreadyExists, boterr.InvalidArgument, boterr.FailedPrecondition:
		return false, nil
	default:
		return err == nil, err
	}
}

// countUp adds to the number in the collection counters.
func countUp(ctx context.Context, database store.Store, by int64) error {
	update, err := query.CompileUpdate(document.O("$inc", document.O("count", by)))
	if err != nil {
		return err
	}
	one := query.Change{Update: update, OnInsert: document.O("_id", "all")}
	_, err = database.Collection("counters").FindAndModify(ctx, nil, one, store.FindAndModifyOptions{Upsert: true})
	return err
}

// crashTrial is a store whose process is killed repeatedly.
type crashTrial struct {
	*testing.T

	order crashOrder
	// expected has the content that the store must have.
	expected *memstore.Store
	// answered counts answered writes. unanswered counts unanswered writes that were nevertheless on disk.
	answered, unanswered int
}

// answer is a write that the process reported.
type answer struct {
	write  crashWrite
	isDone bool
}

// crashCount returns the number of kills. BOTCTX_CRASHES sets it.
func crashCount(t *testing.T) int {
	t.Helper()
	text := os.Getenv("BOTCTX_CRASHES")
	if text == "" {
		return rounds.Of(t, 8, 40)
	}
	count, err := strconv.Atoi(text)
	require.NoError(t, err, "BOTCTX_CRASHES is a number")
	return count
}

func TestWrite_SurvivesAKill(t *testing.T) {
	t.Parallel()
	crashes := crashCount(t)
	trial := &crashTrial{T: t, order: crashOrder{Path: newPath(t)}, expected: memstore.New()}
	for crash := range crashes {
		process := trial.start()
		if crash%2 == 0 {
			<-time.NewTimer(time.Duration(rand.IntN(400)) * time.Millisecond).C // A short wait kills the process while it opens the file.
		} else {
			process.awaitAnswers()
		}
		answers := trial.kill(process)
		trial.check(answers)
	}
	require.Positive(t, trial.answered)
	t.Logf("%d kills, %d answered writes, %d unanswered ones that were on disk", crashes, trial.answered, trial.unanswered)
}

// check opens the file and compares its content with the answered writes. Each writer may have made one more
// write, which was not answered.
func (c *crashTrial) check(answers []answer) {
	c.Helper()
	database, err := sqlite.Open(c.order.Path)
	require.NoError(c, err)
	defer func() { require.NoError(c, database.Close()) }()
	require.Empty(c, names(c.T, c.order.Path), "what a compaction or backup left is removed")
	for _, a := range answers {
		if a.write.isClaim() && !a.isDone {
			continue // Another writer has the claim.
		}
		isDone, err := a.write.run(c.Context(), c.expected)
		require.NoError(c, err)
		require.Equal(c, a.isDone, isDone, "%+v", a)
	}
	counts := int64(0)
	for writer := range crashWriters {
		w := crashWrite{writer, c.order.Next[writer]}
		c.order.Next[writer]++
		if w.isCount() {
			counts++
		}
		c.checkUnanswered(database, w)
	}
	require.ElementsMatch(c, contents(c, c.expected, "claims"), contents(c, database, "claims"))
	more := count(c, database) - count(c, c.expected)
	require.True(c, more >= 0 && more <= counts, "%d counts were not answered, and %d of them are in the file", counts, more)
	require.NoError(c, countUp(c.Context(), c.expected, more))
	require.NoError(c, database.Check(c.Context()))
}

// checkUnanswered checks the collection of a writer, or its claim. The unanswered write may be included.
func (c *crashTrial) checkUnanswered(database store.Store, w crashWrite) {
	c.Helper()
	if w.isClaim() {
		claim, exists, err := database.Collection("claims").Get(c.Context(), w.number)
		require.NoError(c, err)
		if exists && document.Get(claim, "writer", -1) == w.writer {
			c.unanswered++
			require.NoError(c, c.expected.Collection("claims").Insert(c.Context(), claim))
		}
		return
	}
	without, found := contents(c, c.expected, w.collection()), contents(c, database, w.collection())
	if w.isCount() {
		require.Equal(c, without, found)
		return
	}
	_, err := w.run(c.Context(), c.expected)
	require.NoError(c, err)
	if slices.Equal(without, found) { // The write is not in the file, or changed no document.
		_, err := w.run(c.Context(), database)
		require.NoError(c, err)
	} else {
		c.unanswered++
	}
	require.Equal(c, contents(c, c.expected, w.collection()), contents(c, database, w.collection()), "what was answered is %v", without)
}

// count returns the number in the collection counters.
func count(tb testing.TB, database store.Store) int64 {
	tb.Helper()
	counter, _, err := database.Collection("counters").Get(tb.Context(), "all")
	require.NoError(tb, err)
	return document.Get(counter, "count", int64(0))
}

// crashEnv is an environment variable with a crashOrder. If it is set, the test binary writes until it is
// killed.
const crashEnv = "BOTCTX_SQLITE_CRASH_WRITER"

// crashOrder configures the process of crashEnv.
type crashOrder struct {
	Path string `json:"path"`
	// Next has the number of each writer's next write.
	Next [crashWriters]int `json:"next"`
}

func TestMain(m *testing.M) {
	var err error
	if text, isWriter := os.LookupEnv(crashEnv); isWriter {
		err = obey(text, crashOrder.writeUntilKilled)
	} else if text, isWorker := os.LookupEnv(chaosEnv); isWorker {
		err = obey(text, chaosOrder.work)
	} else {
		m.Run()
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// obey decodes an order and carries it out.
func obey[O any](text string, do func(O, context.Context) error) error {
	var order O
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	return do(order, context.Background())
}

// writeUntilKilled runs all writers. Each prints a write after it was answered and before the next one. At the
// same time the store is compacted and backed up repeatedly.
func (order crashOrder) writeUntilKilled(ctx context.Context) error {
	store, err := sqlite.Open(order.Path)
	if err != nil {
		return err
	}
	failed := make(chan error)
	var all sync.WaitGroup
	for writer, number := range order.Next {
		all.Go(func() {
			for ; ; number++ {
				isDone, err := crashWrite{writer, number}.run(ctx, store)
				if err != nil {
					failed <- err
					return
				}
				fmt.Println(writer, number, isDone) //nolint:forbidigo // The test reads the output.
			}
		})
	}
	all.Go(func() {
		for range time.Tick(50 * time.Millisecond) {
			if err := store.Compact(ctx); err != nil {
				failed <- err
				return
			}
			if err := store.Backup(ctx, io.Discard); err != nil {
				failed <- err
				return
			}
		}
	})
	return <-failed
}

type writingProcess struct {
	*exec.Cmd

	said      *output
	complaint *bytes.Buffer
	ended     chan struct{}
}

// output collects the output of a process.
type output struct {
	text bytes.Buffer
	// left is the number of remaining lines until enough is closed.
	left   int
	enough chan struct{}
}

func (o *output) Write(text []byte) (int, error) {
	before := o.left
	o.left -= bytes.Count(text, []byte("\n"))
	if before > 0 && o.left <= 0 {
		close(o.enough)
	}
	return o.text.Write(text)
}

func (c *crashTrial) start() *writingProcess {
	c.Helper()
	text, err := json.Marshal(c.order)
	require.NoError(c, err)
	process := &writingProcess{
		Cmd:       exec.CommandContext(c.Context(), os.Args[0]),
		said:      &output{left: 1 + rand.IntN(100), enough: make(chan struct{})},
		complaint: new(bytes.Buffer),
		ended:     make(chan struct{}),
	}
	process.Env = append(os.Environ(), crashEnv+"="+string(text))
	process.Stdout, process.Stderr = process.said, process.complaint
	require.NoError(c, process.Start())
	go func() {
		_ = process.Wait() // It returns an error because the process was killed.
		close(process.ended)
	}()
	return process
}

// awaitAnswers waits for the required number of answered writes, or for the end of the process.
func (p *writingProcess) awaitAnswers() {
	select {
	case <-p.said.enough:
	case <-p.ended:
	}
}

func (c *crashTrial) kill(process *writingProcess) []answer {
	c.Helper()
	killed := process.Process.Kill()
	<-process.ended
	for line := range strings.Lines(process.complaint.String()) {
		require.Contains(c, line, "interrupted by a crash", "the only warning is about the log's last commit")
	}
	require.NoError(c, killed)

	var answers []answer
	for line := range bytes.Lines(process.said.text.Bytes()) {
		var writer, number int
		var isDone bool
		_, err := fmt.Sscanln(string(line), &writer, &number, &isDone)
		require.NoError(c, err, "%q", line)
		require.Equal(c, c.order.Next[writer], number, "the writes of one writer come one after the other")
		c.order.Next[writer]++
		answers = append(answers, answer{write: crashWrite{writer, number}, isDone: isDone})
	}
	c.answered += len(answers)
	return answers
}
