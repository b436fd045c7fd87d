package outbound

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// around is a body that wraps another one.
type around struct{ io.ReadCloser }

// Unwrap returns the other body.
func (a around) Unwrap() io.ReadCloser { return a.ReadCloser }

// A wrapper of a response's body, such as a time limit, does not exempt it from the bound on memory.
func TestBodyOfClient_BehindWrappers(t *testing.T) {
	t.Parallel()
	own := &responseBody{}
	require.Same(t, own, bodyOfClient(own))
	require.Same(t, own, bodyOfClient(around{around{own}}))
	other := io.NopCloser(strings.NewReader(""))
	require.Nil(t, bodyOfClient(other))
	require.Nil(t, bodyOfClient(around{other}))
}
