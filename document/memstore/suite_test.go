package memstore_test

import (
	"testing"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/documenttest"
	"github.com/botctx/go-sdk/document/memstore"
)

func TestStore(t *testing.T) {
	t.Parallel()
	documenttest.RunStore(t, func(*testing.T) document.Store { return memstore.New() })
}
