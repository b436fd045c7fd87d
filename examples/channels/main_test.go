package main

import (
	"bytes"
	_ "embed"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
)

// transcript is what the program prints; make generate writes it.
//
//go:embed testdata/transcript.txt
var transcript string

func TestMain_Conversation(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Zero(t, run(t.Context(), nil, strings.NewReader(""), &out, &problems), problems.String())
	require.Empty(t, problems.String())
	expected, printed := strings.Split(transcript, "\n"), strings.Split(out.String(), "\n")
	for i, line := range expected {
		require.Less(t, i, len(printed), "what is printed ends before line %d of testdata/transcript.txt: run make generate", i+1)
		require.Equal(t, line, printed[i], "line %d of testdata/transcript.txt: run make generate", i+1)
	}
	require.Len(t, printed, len(expected), "more is printed than testdata/transcript.txt has: run make generate")
}

func TestMain_EveryLineFits(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(transcript) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), columns, line)
	}
}

func TestMain_NoArguments(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"now"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), `"now" is no flag`)
	require.Zero(t, run(t.Context(), []string{"-h"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), "Usage: channels")
	require.Empty(t, out.String())
}

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestMain_CannotPrint(t *testing.T) {
	t.Parallel()
	var problems bytes.Buffer
	require.Equal(t, 1, run(t.Context(), nil, strings.NewReader(""), full{}, &problems))
	require.Equal(t, "channels: the disk is full\n", problems.String())
}

func TestMain_OtherConversationFails(t *testing.T) {
	t.Parallel()
	on := func(each func(*florist, customer) error) error {
		s := &stage{florist: newFlorist(fakes.For(t))}
		return s.step(step{each: each, refused: map[channel.Type]boterr.Code{channel.Bravo: boterr.NotFound}})
	}
	require.ErrorContains(t, on(func(*florist, customer) error { return nil }), "on bravo it is not refused")
	require.ErrorContains(t, on(func(*florist, customer) error { return boterr.Conflict }), "on alpha: conflict")
}

func TestMain_BreaksLongTexts(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 30)
	lines := wrapped(words, 2)
	require.Len(t, lines, 2)
	require.Equal(t, words, strings.Join(lines, ""))
	require.True(t, strings.HasSuffix(lines[0], " "))
	require.Len(t, wrapped(strings.Repeat("x", 200), 2)[0], columns)
}

func TestMain_Talk(t *testing.T) {
	t.Parallel()
	for _, platform := range platforms {
		var out, problems bytes.Buffer
		typed := strings.NewReader("bouquets\n1\n/advance 1m\n")
		require.Zero(t, run(t.Context(), []string{"-talk", string(platform.on)}, typed, &out, &problems), problems.String())
		require.NotContains(t, out.String(), "!!", platform.on)
		require.Contains(t, out.String(), "Eve: [Order]\n", platform.on)
	}
	var out, problems bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"-talk", "pigeon"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), `-talk is "pigeon", and must be one of alpha, bravo`)
}
