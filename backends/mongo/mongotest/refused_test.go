package mongotest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// errTurnOver is why nothing may be written.
var errTurnOver = errors.New("the turn is another one's")

// Refusal implements store.Refuser: the turn is over as soon as the first command was sent, as that of a
// process which is frozen between two commands.
func (c *countedStore) Refusal() error {
	if c.commands.Load() > 0 {
		return errTurnOver
	}
	return nil
}

func TestRefuser_NothingIsWrittenBetweenTwoCommands(t *testing.T) {
	t.Parallel()
	set := document.O("$set", document.O("m", 7))
	for name, do := range map[string]func(c *countedStore) error{
		"upsert that inserts": func(c *countedStore) error {
			return c.findAndModify(document.O("n", 9), set, store.FindAndModifyOptions{Upsert: true})
		},
		"upsert by _id that inserts": func(c *countedStore) error {
			return c.update(document.O("_id", "a"), set, store.UpdateOptions{Upsert: true})
		},
		"upsert with Multi that inserts": func(c *countedStore) error {
			return c.update(document.O("n", 9), set, store.UpdateOptions{Upsert: true, Multi: true})
		},
		"update that reads first": func(c *countedStore) error {
			return c.update(document.O("n", 1), set, store.UpdateOptions{})
		},
		"update with Multi": func(c *countedStore) error {
			return c.update(document.O(), set, store.UpdateOptions{Multi: true})
		},
		"replacement": func(c *countedStore) error {
			return c.update(document.O("_id", 1), document.O("n", 7), store.UpdateOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounted(t)
			before, err := c.Find(t.Context(), nil, store.FindOptions{})
			require.NoError(t, err)
			c.commands.Store(0)
			c.ctx = store.WithRefuser(t.Context(), c)
			require.ErrorIs(t, do(c), errTurnOver)
			require.Equal(t, int64(1), c.commands.Load(), "commands that were sent")
			after, err := c.Find(t.Context(), nil, store.FindOptions{})
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}
