package main

import (
	"bytes"
	_ "embed"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// transcript is the program's output: go -C examples run ./handoff >
// examples/handoff/testdata/transcript.txt.
//
//go:embed testdata/transcript.txt
var transcript string

func TestMain_Conversation(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Zero(t, run(t.Context(), nil, strings.NewReader(""), &out, &problems))
	require.Equal(t, transcript, out.String())
	require.Empty(t, problems.String())
}

func TestMain_NoArguments(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"now"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), `"now" is not a flag`)
	require.Zero(t, run(t.Context(), []string{"-h"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), "Usage: handoff")
	require.Empty(t, out.String())
}

// full is a writer that fails after a number of bytes.
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
		require.Equal(t, 1, run(t.Context(), nil, strings.NewReader(""), &full{left: left}, &problems))
		require.Equal(t, "handoff: the disk is full\n", problems.String())
	}
}

func TestMain_BreaksLongTexts(t *testing.T) {
	t.Parallel()
	long := "this is a text of more than one row, and it is broken where there is a space"
	require.Equal(t, []string{"this is a text of more than one row, and it is", "  broken where there is a space"}, wrapped(long))
	require.Equal(t, []string{"one", "", "two"}, wrapped("one\n\ntwo"))
}

func TestMain_Talk(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	typed := "person\nMy brakes squeak.\n/agent grace\n/take\nSince when?\n/as ada\nSince it rained.\n/agent grace\n//done\n/as ada\nhours\n"
	require.Zero(t, run(t.Context(), []string{"-talk"}, strings.NewReader(typed), &out, &problems), problems.String())
	require.Contains(t, out.String(), "Bot to Ada: Since when?\n")
	require.Contains(t, out.String(), "Bot to Grace: Since it rained.\n")
	require.Contains(t, out.String(), "Goodbye, Ada!")
	require.Contains(t, out.String(), "We are open from 9 to 18")
}
