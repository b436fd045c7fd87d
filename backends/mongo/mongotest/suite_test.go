package mongotest_test

import (
	"testing"

	"github.com/botctx/go-sdk/document/documenttest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	documenttest.RunStore(t, newStore)
}
