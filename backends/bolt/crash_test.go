package bolt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// crashTrial is what is known of the store of a process that is killed again and again.
type crashTrial struct {
	*testing.T

	order crashOrder
	// documents are those of each writer.
	documents [crashWriters][]document.Object
	// claims are the slots that are taken, by the _ids of those who took them.
	claims map[string]int64
	count  int64
	// answered is the number of writes that were answered, lost how many of the others
	// were on disk.
	answered, unanswered int
}

// answer is a write of which the process said that it was answered.
type answer struct {
	write   crashWrite
	changed bool
}

// crashCount is how often the process is killed, which BOTCTX_CRASHES may say.
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
			<-time.NewTimer(time.Duration(rand.IntN(400)) * time.Millisecond).C // Some still open the file.
		} else {
			process.awaitAnswers()
		}
		answers := trial.kill(process)
		trial.check(answers)
	}
	require.Positive(t, trial.answered)
	t.Logf("%d kills, %d answered writes, %d unanswered ones that were on disk", crashes, trial.answered, trial.unanswered)
}

// check opens the file and compares what is there with what was answered. Each writer may
// have had one more write under way.
func (c *crashTrial) check(answers []answer) {
	c.Helper()
	store, err := bolt.Open(c.order.Path)
	require.NoError(c, err)
	defer func() { require.NoError(c, store.Close()) }()
	files, err := os.ReadDir(filepath.Dir(c.order.Path))
	require.NoError(c, err)
	require.Len(c, files, 1, "what a compaction or backup left is removed")
	counted, countsUnderWay := int64(0), int64(0)
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
	underWay := map[string]int64{}
	for writer := range crashWriters {
		w := writeOf(writer, c.order.Next[writer])
		c.order.Next[writer]++
		c.checkDocuments(store, w)
		switch w.kind {
		case countUp:
			countsUnderWay++
		case claimSlot:
			underWay[fmt.Sprint(w.writer, "/", w.number)] = int64(w.slot())
		default:
		}
	}
	c.checkClaims(store, underWay)
	c.checkCount(store, c.count+counted, countsUnderWay)
	c.checkIndexes(store)
}

// checkDocuments compares the documents of a writer with what they are without the write
// that was under way, and with it.
func (c *crashTrial) checkDocuments(database store.Store, underWay crashWrite) {
	c.Helper()
	found, err := database.Collection("items").Find(c.Context(), filter(c, "writer", underWay.writer), store.FindOptions{})
	require.NoError(c, err)
	without, with := c.documents[underWay.writer], underWay.apply(c.documents[underWay.writer])
	if !sameDocuments(found, without) {
		require.Equal(c, fmt.Sprint(with), fmt.Sprint(found), "what was answered is %v", without)
		c.unanswered++
	}
	c.documents[underWay.writer] = found
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

// checkClaims checks that each claim that was answered is there, and no other but those
// that were under way.
func (c *crashTrial) checkClaims(database store.Store, underWay map[string]int64) {
	c.Helper()
	found, err := database.Collection("claims").Find(c.Context(), nil, store.FindOptions{})
	require.NoError(c, err)
	there, slots := map[string]int64{}, map[int64]bool{}
	for _, o := range found {
		id, slot := document.Get(o, "_id", ""), document.Get(o, "slot", int64(-1))
		require.False(c, slots[slot], "slot %d is taken twice", slot)
		there[id], slots[slot] = slot, true
		if _, known := c.claims[id]; !known {
			require.Equal(c, underWay[id], slot, "the claim %s was neither answered nor under way", id)
			c.unanswered++
		}
	}
	for id, slot := range c.claims {
		require.Equal(c, slot, there[id], "the claim %s was answered", id)
	}
	c.claims = there
}

// checkCount checks the document that all writers count up.
func (c *crashTrial) checkCount(database store.Store, answered, underWay int64) {
	c.Helper()
	found, err := database.Collection("counters").Find(c.Context(), nil, store.FindOptions{})
	require.NoError(c, err)
	c.count = 0
	for _, o := range found {
		c.count = document.Get(o, "count", int64(0))
	}
	require.GreaterOrEqual(c, c.count, answered)
	require.LessOrEqual(c, c.count, answered+underWay)
}

// checkIndexes checks that each document is found by its key, and alone, and that its key
// is refused to another one.
func (c *crashTrial) checkIndexes(database *bolt.Store) {
	c.Helper()
	items := database.Collection("items")
	for _, documents := range c.documents {
		for _, o := range documents {
			writer, key := document.Get(o, "writer", int64(0)), document.Get(o, "key", "")
			byKey := filter(c, "writer", writer, "key", key)
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
