package boterr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

// panicOf returns the panic that a function ends with.
func panicOf(f func()) (panicked *boterr.PanicError) {
	defer func() { panicked, _ = errors.AsType[*boterr.PanicError](boterr.Recovered(recover())) }()
	f()
	return nil
}

func TestFrames_OfTheCodeThatPanicked(t *testing.T) {
	t.Parallel()
	var none map[string]int
	for name, c := range map[string]struct {
		f      func()
		within string
	}{
		"by panic":                   {func() { panic("down") }, ""},
		"by Go's runtime":            {func() { none["a"] = 1 }, ""},
		"in the standard library":    {func() { _ = strings.Repeat("a", len(none)-1) }, "strings.Repeat"},
		"with calls of generic code": {func() { slices.SortFunc([]int{1, 2}, func(int, int) int { panic("down") }) }, "slices."},
	} {
		frames := panicOf(c.f).Frames()
		require.NotEmpty(t, frames, name)
		all := strings.Join(frames, "\n")
		require.Contains(t, all, c.within, name)
		require.Contains(t, all, "boterr_test.TestFrames_OfTheCodeThatPanicked.func", name)
		require.Contains(t, all, "(frames_test.go:", name)
		require.NotContains(t, all, "runtime.", name)
		require.NotContains(t, all, "boterr.Recovered", name)
	}
}

func TestFrames_NoneOfAPanicMadeByHand(t *testing.T) {
	t.Parallel()
	require.Empty(t, (&boterr.PanicError{Cause: "down"}).Frames())
}
