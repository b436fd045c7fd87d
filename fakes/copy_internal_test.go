package fakes

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// ring is data that may refer to itself.
type ring struct {
	Next  *ring
	Named map[string]*ring
	List  []any
	Name  string
}

// ringError is an error that refers to itself.
type ringError struct{ Self *ringError }

func (*ringError) Error() string { return "round and round" }

// listError is an error that is no pointer.
type listError []error

func (listError) Error() string { return "several" }

func TestClone_ErrorsAsReturned(t *testing.T) {
	t.Parallel()
	plain, round := errors.New("plain"), &ringError{}
	round.Self = round
	coded := boterr.New(boterr.NotFound, "", "gone: %w", plain)
	result := send.SendResponseResult{Results: []send.Result{{Err: plain}, {Err: round}, {Err: coded}, {Err: listError{plain}}}}
	recorded, ok := copyOf(result).(send.SendResponseResult)
	require.True(t, ok)
	require.Same(t, plain, recorded.Results[0].Err)
	require.Same(t, round, recorded.Results[1].Err)
	require.Same(t, coded, recorded.Results[2].Err)
	require.Equal(t, listError{plain}, recorded.Results[3].Err)
}

func TestClone_FieldOfErrorType(t *testing.T) {
	t.Parallel()
	declined := &utility.DeclinedError{Code: "expired_card"}
	require.Same(t, declined, cloneOf(struct{ Why *utility.DeclinedError }{declined}).Why)
}

func TestClone_RefersToItself(t *testing.T) {
	t.Parallel()
	given := &ring{Name: "a", Named: map[string]*ring{}, List: make([]any, 1)}
	given.Next, given.Named["me"], given.List[0] = given, given, given.List
	made := cloneOf(given)
	require.NotSame(t, given, made)
	require.Same(t, made, made.Next)
	require.Same(t, made, made.Named["me"])
	inner, ok := made.List[0].([]any)
	require.True(t, ok)
	require.Same(t, &made.List[0], &inner[0])
	given.Name, given.List[0] = "b", nil
	require.Equal(t, "a", made.Name)
	require.NotNil(t, made.List[0])
}

func TestClone_SlicesOfOneArray(t *testing.T) {
	t.Parallel()
	array := []int{1, 2, 3}
	made := cloneOf([][]int{array[:1], array, array[:0]})
	require.Equal(t, [][]int{{1}, {1, 2, 3}, {}}, made)
}
