package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// otherStore is a store of which no copies can be had.
type otherStore struct{ store.Store }

func TestStore_KeepsRecords(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	otherwise := fakes.Config(func(c *botctx.Config) {
		require.Equal(t, fakes.Start(), c.Now())
		c.Store = otherStore{memory}
	})
	fakes.New(fakes.For(t), otherwise).AddMember(member.Member{FirstName: "Ada"})
	found, err := memory.Collection("members").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, int64(1), found)

	for name, use := range map[string]func(*fakes.Platform){
		"Snapshot": func(p *fakes.Platform) { p.Snapshot() },
		"Fork":     func(p *fakes.Platform) { p.Fork() },
		"Restore":  func(p *fakes.Platform) { p.Restore(fakes.New(fakes.For(t)).Snapshot()) },
	} {
		tb := &recordedTB{}
		tb.runOn(func() { use(fakes.New(fakes.For(tb), otherwise)) })
		require.Len(t, tb.failures, 1, name)
		require.Contains(t, tb.failures[0], "leave the Store of Config as it is", name)
	}
}

// runOn runs what may end the test.
func (r *recordedTB) runOn(test func()) {
	defer func() {
		if cause := recover(); cause != nil && cause != (failedTest{}) {
			panic(cause)
		}
	}()
	test()
}
