package boterr_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
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
	require.NotPanics(t, func() { _ = boterr.Text(none) })
	require.NotPanics(t, func() { _ = (&boterr.Error{Code: boterr.Internal, Err: none}).Error() })
}
