package main

import (
	"bytes"
	_ "embed"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// transcript is what the program prints: go -C examples run ./handoff > examples/handoff/testdata/transcript.txt.
//
//go:embed testdata/transcript.txt
var transcript string

func TestMain_Conversation(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Zero(t, run(nil, &out, &problems))
	require.Equal(t, transcript, out.String())
	require.Empty(t, problems.String())
}

func TestMain_NoArguments(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 2, run([]string{"now"}, &out, &problems))
	require.Contains(t, problems.String(), `"now" is no flag`)
	require.Zero(t, run([]string{"-h"}, &out, &problems))
	require.Contains(t, problems.String(), "Usage: handoff")
	require.Empty(t, out.String())
}

// full is a writer that takes so many bytes, and no more.
type full struct{ left int }

func (f *full) Write(text []byte) (int, error) {
	if f.left -= len(text); f.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(text), nil
}

func TestMain_CannotPrint(t *testing.T) {
	t.Parallel()
	for left := 0; left < len(transcript); left += 400 {
		var problems bytes.Buffer
		require.Equal(t, 1, run(nil, &full{left: left}, &problems))
		require.Equal(t, "handoff: the disk is full\n", problems.String())
	}
}

func TestMain_BreaksLongTexts(t *testing.T) {
	t.Parallel()
	long := "this is a text of more than one row, and it is broken where there is a space"
	require.Equal(t, []string{"this is a text of more than one row, and it is", "  broken where there is a space"}, wrapped(long))
	require.Equal(t, []string{"one", "", "two"}, wrapped("one\n\ntwo"))
}
