package browsertest_test

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/internal/session/sessiontest"
)

// nodes returns the nodes of the tests' bot. Saved tests are compiled with a copy of this file.
func nodes() []*botctx.Node { return sessiontest.Nodes() }
