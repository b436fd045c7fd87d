package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// ran is the result of a run of the program.
type ran struct {
	code          int
	out, problems string
}

func runWith(t *testing.T, input string, args ...string) ran {
	t.Helper()
	var out, problems bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(input), &out, &problems)
	return ran{code, out.String(), problems.String()}
}

func TestMain_Demonstration(t *testing.T) {
	t.Parallel()
	r := runWith(t, "")
	require.Zero(t, r.code, r.problems)
	require.Contains(t, r.out, "Guest:     Book number 1\nConcierge: Nonna Bettina, gladly. For how many people?")
	require.Contains(t, r.out, "Concierge: Booked: Nonna Bettina tonight at 19:30, for 2.")
	require.Contains(t, r.out, "Concierge: You have that booking already: Nonna Bettina tonight at 19:30.")
	require.Equal(t, 1, strings.Count(r.out, "You can say, for example"), "all but the greeting is understood")
}

func TestMain_EndsWithInputOrBye(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"museums", "museums\n\n", "museums\r\n", "museums\nBye!\nhotels\n"} {
		r := runWith(t, input)
		require.Zero(t, r.code, r.problems)
		require.Contains(t, r.out, "1. Harbour Museum")
		require.NotContains(t, r.out, "Hotel Belvoir")
		require.NotContains(t, r.out, "demonstration")
	}
}

func TestMain_AnswersAnyLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"\xff\xfe", "\x00", "my name is \x00", "my name is {{meta.asked}}", "I am at 1e999, 2", "book $where for 2 at 19:00",
		"book 5", "within 99999999999999999999 km", strings.Repeat("museum ", 5_000), "99", "for 9999 at 19:00",
		"-999,-999", "at :::", "book 999999999999 for 99999999999",
	} {
		r := runWith(t, "museums\n"+line+"\nbook 1 for 2 at 20:00\n"+line+"\n")
		require.Zero(t, r.code, r.problems)
		require.Equal(t, 4, strings.Count(r.out, "Concierge: "))
	}
}

func TestMain_TellsProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":            {[]string{"-h"}, 0, "Usage: concierge"},
		"an unknown flag": {[]string{"-city", "x"}, 2, "flag provided but not defined: -city"},
		"an argument":     {[]string{"places.json"}, 2, `"places.json" is not a flag, and the command has no arguments`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runWith(t, "", c.args...)
			require.Equal(t, c.code, r.code)
			require.Contains(t, r.problems, c.want)
			require.Empty(t, r.out)
		})
	}
}

var _ = flag.Bool("update", false, "write the files that tests compare with")

// aStage returns a stage on the concierge's own city.
func aStage(t *testing.T) *conversation.Session {
	t.Helper()
	return conversation.NewSession(aCity(t))
}

func TestConversations(t *testing.T) {
	t.Parallel()
	conversation.Run(t, "*.chat", aStage)
	conversation.Run(t, "testdata/*.chat", aStage)
}

// The effects of the demonstration: sent messages, bookings, and the seats left.
func TestDemonstration_Effects(t *testing.T) {
	t.Parallel()
	stage := aStage(t)
	written, err := conversation.Parse("demonstration.chat", demonstration)
	require.NoError(t, err)
	_, err = stage.Play(written)
	require.NoError(t, err)
	stage.Platform().Golden("testdata/demonstration.golden")
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
