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
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// crashTrial is a store whose process is killed repeatedly, with its expected content.
type crashTrial struct {
	*testing.T

	order crashOrder
	// documents has the stored documents of each writer.
	documents [crashWriters][]document.Object
	// claims maps the _ids of claims to their slots.
	claims map[string]int64
	count  int64
	// answered counts answered writes. unanswered counts unanswered writes that were nevertheless on disk.
	answered, unanswered int
}

// answer is a write that the process reported.
type answer struct {
	write   crashWrite
	changed bool
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
	trial := &crashTrial{T: t, order: crashOrder{Path: newPath(t)}, claims: map[string]int64{}}
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
	store, err := sqlite.Open(c.order.Path)
	require.NoError(c, err)
	defer func() { require.NoError(c, store.Close()) }()
	require.Empty(c, names(c.T, c.order.Path), "what a compaction or backup left is removed")
	counted, countsInFlight := int64(0), int64(0)
	for _, a := range answers {
		w := a.write
		c.documents[w.writer] = w.apply(c.documents[w.writer])
		switch {
		case w.kind == countUp:
			counted++
		case w.kind == claimSlot && a.changed:
			c.claims[fmt.Sprint(w.writer, "/", w.number)] = int64(w.slot())
		}
	}
	inFlight := map[string]int64{}
	for writer := range crashWriters {
		w := writeOf(writer, c.order.Next[writer])
		c.order.Next[writer]++
		c.checkDocuments(store, w)
		switch w.kind {
		case countUp:
			countsInFlight++
		case claimSlot:
			inFlight[fmt.Sprint(w.writer, "/", w.number)] = int64(w.slot())
		default:
		}
	}
	c.checkClaims(store, inFlight)
	c.checkCount(store, c.count+counted, countsInFlight)
	c.checkIndexes(store)
}

// checkDocuments checks the documents of a writer. The unanswered write may be included.
func (c *crashTrial) checkDocuments(database store.Store, inFlight crashWrite) {
	c.Helper()
	found, err := database.Collection("items").Find(c.Context(), sharedtest.Filter(c, "writer", inFlight.writer), store.FindOptions{})
	require.NoError(c, err)
	without, with := c.documents[inFlight.writer], inFlight.apply(c.documents[inFlight.writer])
	if !sameDocuments(found, without) {
		require.Equal(c, fmt.Sprint(with), fmt.Sprint(found), "what was answered is %v", without)
		c.unanswered++
	}
	c.documents[inFlight.writer] = found
}

func sameDocuments(a, b []document.Object) bool {
	return document.Equal(documentArray(a), documentArray(b))
}

func documentArray(documents []document.Object) document.Array {
	items := make([]any, 0, len(documents))
	for _, o := range documents {
		items = append(items, o)
	}
	return document.A(items...)
}

// checkClaims checks that all answered claims exist. Other claims must be unanswered ones.
func (c *crashTrial) checkClaims(database store.Store, inFlight map[string]int64) {
	c.Helper()
	found, err := database.Collection("claims").Find(c.Context(), nil, store.FindOptions{})
	require.NoError(c, err)
	there, slots := map[string]int64{}, map[int64]bool{}
	for _, o := range found {
		id, slot := document.Get(o, "_id", ""), document.Get(o, "slot", int64(-1))
		require.False(c, slots[slot], "slot %d is taken twice", slot)
		there[id], slots[slot] = slot, true
		if _, known := c.claims[id]; !known {
			require.Equal(c, inFlight[id], slot, "the claim %s was neither answered nor in flight", id)
			c.unanswered++
		}
	}
	for id, slot := range c.claims {
		require.Equal(c, slot, there[id], "the claim %s was answered", id)
	}
	c.claims = there
}

// checkCount checks the document that all writers increment.
func (c *crashTrial) checkCount(database store.Store, answered, inFlight int64) {
	c.Helper()
	found, err := database.Collection("counters").Find(c.Context(), nil, store.FindOptions{})
	require.NoError(c, err)
	c.count = 0
	for _, o := range found {
		c.count = document.Get(o, "count", int64(0))
	}
	require.GreaterOrEqual(c, c.count, answered)
	require.LessOrEqual(c, c.count, answered+inFlight)
}

// checkIndexes checks that each key finds exactly its document, and that no other document can have the key.
func (c *crashTrial) checkIndexes(database *sqlite.Store) {
	c.Helper()
	items := database.Collection("items")
	for _, documents := range c.documents {
		for _, o := range documents {
			writer, key := document.Get(o, "writer", int64(0)), document.Get(o, "key", "")
			byKey := sharedtest.Filter(c, "writer", writer, "key", key)
			found, err := items.Find(c.Context(), byKey, store.FindOptions{})
			require.NoError(c, err)
			require.True(c, sameDocuments(found, []document.Object{o}))
			explanation, err := database.Explain(c.Context(), "items", byKey, store.FindOptions{})
			require.NoError(c, err)
			require.Equal(c, "writer_1_key_1", explanation.Index)
			require.ErrorIs(c, items.Insert(c.Context(), document.O("_id", "again", "writer", writer, "key", key)), boterr.AlreadyExists)
		}
	}
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
	} else if text, isWorker := os.LookupEnv(agendaEnv); isWorker {
		err = obey(text, agendaOrder.work)
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
	for collection, index := range crashIndexes() {
		if err := store.Collection(collection).EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	failed := make(chan error)
	var all sync.WaitGroup
	for writer, number := range order.Next {
		all.Go(func() {
			for ; ; number++ {
				changed, err := writeOf(writer, number).run(ctx, store)
				if err != nil {
					failed <- err
					return
				}
				fmt.Println(writer, number, changed) //nolint:forbidigo // The test reads the output.
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

func crashIndexes() map[string]store.Index {
	return map[string]store.Index{
		"items": {Keys: []store.IndexKey{
			{Path: "writer", Kind: query.Ascending}, {Path: "key", Kind: query.Ascending},
		}, Unique: true},
		"claims": {Keys: ascending("slot"), Unique: true},
	}
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
		var changed bool
		_, err := fmt.Sscanln(string(line), &writer, &number, &changed)
		require.NoError(c, err, "%q", line)
		require.Equal(c, c.order.Next[writer], number, "the writes of one writer come one after the other")
		c.order.Next[writer]++
		answers = append(answers, answer{write: writeOf(writer, number), changed: changed})
	}
	c.answered += len(answers)
	return answers
}
