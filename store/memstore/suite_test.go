package memstore_test

import (
	"testing"

	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, func(*testing.T) store.Store { return memstore.New() })
}
