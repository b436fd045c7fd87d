package agendas_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// meanwhile is a store in which something happens before the first deletion.
type meanwhile struct {
	store.Store

	happens func()
}

func (m *meanwhile) Collection(name string) store.Collection {
	return &meanwhileCollection{Collection: m.Store.Collection(name), store: m}
}

type meanwhileCollection struct {
	store.Collection

	store *meanwhile
}

func (c *meanwhileCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	if happens := c.store.happens; happens != nil {
		c.store.happens = nil
		happens()
	}
	return c.Collection.Delete(ctx, filter, options)
}

func TestNewAgenda_ReplaceAfterDeletion(t *testing.T) {
	t.Parallel()
	store := &meanwhile{Store: memstore.New()}
	a := newAppsOver(t, store, agendas.Ports{})
	replace := func(node string) {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "`+node+`", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	}
	replace("first")
	store.happens = func() {
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada", "tag": "x"}`)
		replace("last")
	}
	replace("second")
	require.Equal(t, []string{"last"}, nodes(records(t, a.mine)))
}
