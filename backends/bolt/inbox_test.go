package bolt_test

import (
	"testing"

	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/store"
)

func TestInbox(t *testing.T) {
	t.Parallel()
	inboxtest.RunInbox(t, func(t *testing.T) store.Store {
		t.Helper()
		return open(t, newPath(t))
	})
}
