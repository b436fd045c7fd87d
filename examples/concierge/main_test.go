package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ran is what a run of the program left.
type ran struct {
	code          int
	out, problems string
}

// runWith runs the program.
func runWith(t *testing.T, input string, args ...string) ran {
	t.Helper()
	var out, problems bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(input), &out, &problems)
	return ran{code, out.String(), problems.String()}
}

// fileOf returns the path of a file that holds a text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestMain_Demonstration(t *testing.T) {
	t.Parallel()
	r := runWith(t, "")
	require.Zero(t, r.code, r.problems)
	require.Contains(t, r.out, "Guest:     Book number 1\nConcierge: Nonna Bettina, gladly. For how many people?")
	require.Contains(t, r.out, "Concierge: Booked: Nonna Bettina tonight at 19:30, for 2.")
	require.Contains(t, r.out, "Concierge: You have that booking already: Nonna Bettina tonight at 19:30.")
	require.Equal(t, 1, strings.Count(r.out, "You can say, for example"), "all but the greeting is understood")
	require.Contains(t, r.out, "conversations          1\n  turns                 28\n")
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
	} {
		r := runWith(t, "museums\n"+line+"\nbook 1 for 2 at 20:00\n"+line+"\n")
		require.Zero(t, r.code, r.problems)
		require.Equal(t, 4, strings.Count(r.out, "Concierge: "))
	}
}

func TestMain_PlacesOfAFile(t *testing.T) {
	t.Parallel()
	path := fileOf(t, `[{"name": "North Pole Inn", "kind": "inn", "location": [89, 10]}, {"name": "South Inn", "kind": "inn", "location": [10, 89]}]`)
	const input = "I am at 88, 10\nwhat is near me"
	require.Contains(t, runWith(t, input, "-places", path).out, "1. North Pole Inn (inn, 111319 m)")
	require.Contains(t, runWith(t, input, "-places", path).out, "[latitude, longitude]")
	require.Contains(t, runWith(t, input, "-places", path, "-lnglat").out, "1. South Inn")
}

func TestMain_ReplayPrints(t *testing.T) {
	t.Parallel()
	r := runWith(t, "", "-dialogues", fileOf(t, oneLine(rental)))
	require.Zero(t, r.code, r.problems)
	require.Contains(t, r.out, `
== d1 (Films)
Guest:     A western?
           - looked in Films.FindFilms: 0 found
Concierge: {{none}}
Guest:     Rent Up.
           - looked in Films.RentFilm: 2 found
           - booked in Films.RentFilm: 1
Concierge: Rented.
Guest:     Rent Up!
           - looked in Films.RentFilm: 2 found
           - booked in Films.RentFilm: 0
Concierge: You have it.

Summary
  conversations          1
  turns                  6
  operations called     11
    fetchDataFromDataSource                   3
    findAndModifyDataFromDataSource           2
    findAndModifyMember                       2
    sendResponse                              3
    upsertDataToDataSource                    1
  entries found          5
  messages sent          3
`)
}

func TestMain_ReplayRealConversations(t *testing.T) {
	t.Parallel()
	readShared(t, "conversations", "dialogues.jsonl")
	r := runWith(t, "", "-dialogues", filepath.Join("..", "..", "..", "shared", "data", "conversations", "dialogues.jsonl"))
	require.Zero(t, r.code, r.problems)
	require.Contains(t, r.out, "conversations        256\n  turns               3816\n  operations called   3663\n")
	require.Contains(t, r.out, "messages sent       1908\n")
	require.Equal(t, 256, strings.Count(r.out, "\n== "))
	require.Equal(t, 147, strings.Count(r.out, ": 1\nConcierge: "), "bookings")
}

func TestMain_TellsProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":                   {[]string{"-h"}, 0, "Usage: concierge"},
		"an unknown flag":        {[]string{"-city", "x"}, 2, "flag provided but not defined: -city"},
		"an argument":            {[]string{"places.json"}, 2, `"places.json" is no flag, and there are no arguments`},
		"two files":              {[]string{"-places", "x", "-dialogues", "y"}, 2, "-places and -dialogues do not go together"},
		"an order of nothing":    {[]string{"-lnglat"}, 2, "-lnglat says how to read the FILE of -places, which is missing"},
		"no file of places":      {[]string{"-places", "absent.json"}, 1, "concierge: open absent.json: "},
		"no file of dialogues":   {[]string{"-dialogues", "absent.jsonl"}, 1, "concierge: open absent.jsonl: "},
		"places without a place": {[]string{"-places", fileOf(t, "[]")}, 1, "file.json: there is no place in it"},
		"places that come twice": {[]string{"-places", fileOf(t, `[{"_id": 1}, {"_id": 1}]`)}, 1, "data[1]._id: comes twice in one call"},
		"an empty conversation":  {[]string{"-dialogues", fileOf(t, "\n")}, 1, "file.json: there is no conversation in it"},
		"a broken conversation":  {[]string{"-dialogues", fileOf(t, "{}")}, 1, "file.json: line 1: dialogue_id is missing"},
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
