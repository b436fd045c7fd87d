package inbound_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbound"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	texts, ok := inbound.Texts([]byte(`{"app":"a\u0031","team":{"id":"T1"},"channel":7,"app":"a2"}`), "app", "team.id", "channel", "none")
	require.True(t, ok)
	require.Equal(t, []string{"a1", "T1", "", ""}, texts)
}

func TestTexts_NoObject(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `[]`, `"app"`, `{"app":"a1"`, `{"app":"a1"} x`, `{"app":` + strings.Repeat("[", 100_000)} {
		_, ok := inbound.Texts([]byte(body), "app")
		require.False(t, ok, body[:min(len(body), 20)])
	}
}

func TestTexts_NestedArrays(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	body := []byte(`{"x":[` + strings.Repeat("[[[]]],", 100_000) + `[]],"app":"a1"}`)
	allocations := testing.AllocsPerRun(1, func() { _, _ = inbound.Texts(body, "app") })
	require.Less(t, allocations, 100.0)
}
