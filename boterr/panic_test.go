package boterr_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
)

// fragile is an error whose methods cannot be called on nil.
type fragile struct{ text string }

func (f *fragile) Error() string { return f.text }

func TestPanic_CauseAndPlace(t *testing.T) {
	t.Parallel()
	err := func() (err error) {
		defer func() { err = boterr.Recovered(recover()) }()
		panic(io.ErrUnexpectedEOF)
	}()
	require.Equal(t, boterr.Internal, boterr.CodeOf(err))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.EqualError(t, err, "internal: panic: unexpected EOF")
	panicked, ok := errors.AsType[*boterr.PanicError](err)
	require.True(t, ok)
	require.Contains(t, string(panicked.Stack), t.Name())
}

func TestPanic_None(t *testing.T) {
	t.Parallel()
	require.NoError(t, boterr.Recovered(nil))
}

func TestPanic_ShowsNoCredential(t *testing.T) {
	t.Parallel()
	err := boterr.PanicError{Cause: "dial https://u:S3CRET99@db.example.com"}
	require.EqualError(t, &err, "panic: dial https://[redacted]@db.example.com")
}

func TestPanic_InErrorText(t *testing.T) {
	t.Parallel()
	var none *fragile
	require.NotPanics(t, func() { _ = display.Text(none) })
	require.NotPanics(t, func() { _ = (&boterr.Error{Code: boterr.Internal, Err: none}).Error() })
}

// panicOf returns the panic of f as a PanicError.
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
		require.Contains(t, all, "(panic_test.go:", name)
		require.NotContains(t, all, "runtime.", name)
		require.NotContains(t, all, "boterr.Recovered", name)
	}
}

func TestFrames_NoneOfAPanicMadeByHand(t *testing.T) {
	t.Parallel()
	require.Empty(t, (&boterr.PanicError{Cause: "down"}).Frames())
}
