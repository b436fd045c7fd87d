package fair_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/fair"
)

// add adds queues for channels, written as "app/channel".
func add(r *fair.Ring[string], names ...string) {
	for _, name := range names {
		r.Get(key(name), func() string { return name })
	}
}

// key returns the Key for "app/channel", where both have one letter.
func key(name string) fair.Key { return fair.Key{App: name[:1], Channel: name[2:]} }

// turns calls Next n times, and returns the queues that it found. The queues in but may not be served.
func turns(r *fair.Ring[string], n int, but ...string) []string {
	var names []string
	for range n {
		_, name, ok := r.Next(func(_ fair.Key, name string) bool { return !slices.Contains(but, name) })
		if ok {
			names = append(names, name)
		}
	}
	return names
}

func TestRing_AppsAndTheirChannelsTakeTurns(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "a/2", "a/3", "b/1", "c/1")
	require.Equal(t, []string{"a/1", "b/1", "c/1", "a/2", "b/1", "c/1", "a/3", "b/1"}, turns(&r, 8))
}

func TestRing_PassesOverWhatMayNot(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "a/2", "b/1")
	require.Equal(t, []string{"a/2", "b/1", "a/2"}, turns(&r, 3, "a/1"))
	require.Empty(t, turns(&r, 1, "a/1", "a/2", "b/1"))
	require.Equal(t, []string{"b/1", "a/1"}, turns(&r, 2), "a queue that was skipped keeps its turn")
}

func TestRing_Drop(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "a/2", "b/1")
	r.Drop(key("a/1"))
	r.Drop(key("b/1"))
	r.Drop(key("b/2"))
	r.Drop(key("x/1"))
	require.Equal(t, 1, r.Len())
	_, ok := r.Find(key("b/1"))
	require.False(t, ok)
	found, ok := r.Find(key("a/2"))
	require.True(t, ok)
	require.Equal(t, "a/2", found)
	require.Equal(t, []string{"a/2", "a/2"}, turns(&r, 2))
}

func TestRing_All(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "b/1", "a/2")
	turns(&r, 1)
	var names []string
	r.All(func(_ fair.Key, name string) bool {
		names = append(names, name)
		return len(names) < 2
	})
	require.Equal(t, []string{"b/1", "a/2"}, names)
}
