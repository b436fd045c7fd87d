package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// rental is a conversation with a look-up without result, an ambiguous booking, and a
// repetition of it.
const rental = `{"dialogue_id": "d1", "services": ["Films"], "turns": [
	{"speaker": "USER", "utterance": "A western?", "acts": [{"act": "INFORM", "slot": "genre", "values": ["western"]},
		{"act": "INFORM_INTENT", "slot": "intent", "values": ["FindFilms"]}]},
	{"speaker": "SYSTEM", "utterance": "{{none}}", "acts": [], "calls": [
		{"service": "Films", "method": "FindFilms", "parameters": {"genre": "western"}, "results": []}]},
	{"speaker": "USER", "utterance": "Rent Up.", "acts": [{"act": "INFORM", "slot": "film", "values": ["Up"]}]},
	{"speaker": "SYSTEM", "utterance": "Rented.", "acts": [], "calls": [
		{"service": "Films", "method": "RentFilm", "parameters": {"film": "Up", "language": "dontcare"},
		 "results": [{"film": "Up", "language": "French"}, {"film": "Up", "language": "Dutch"}]}]},
	{"speaker": "USER", "utterance": "Rent Up!", "acts": []},
	{"speaker": "SYSTEM", "utterance": "You have it.", "acts": [], "calls": [
		{"service": "Films", "method": "RentFilm", "parameters": {"film": "Up"},
		 "results": [{"film": "Up", "language": "French"}]}]}]}`

// oneLine writes a conversation on a line.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

func TestDialogue_Replayed(t *testing.T) {
	t.Parallel()
	dialogues, err := ReadDialogues(strings.NewReader("\n" + oneLine(rental) + "\n\n"))
	require.NoError(t, err)
	p := fakes.New(fakes.For(t))
	for range 2 { // Loading again changes nothing.
		require.NoError(t, SaveRows(t.Context(), p.Operations(botctx.Scope{}), dialogues))
	}
	p.HandleFunc(NewReplay(dialogues).Answer)
	guest := p.AddMember(member.Member{ExternalID: "d1"})

	guest.Sends(Message(dialogues[0], 0))
	require.Equal(t, "{{none}}", guest.Last(), "what was recorded is no template")
	require.JSONEq(t, `{"slots": {"genre": "western"}, "intent": "FindFilms"}`, guest.Member().Meta.String())

	guest.Sends(Message(dialogues[0], 2))
	guest.Sends(Message(dialogues[0], 4))
	require.Equal(t, "You have it.", guest.Last())
	require.Len(t, p.Data("Films.RentFilm"), 2, "the row that came twice is one entry")
	taken := 0
	for _, entry := range p.Data("Films.RentFilm") {
		taken += len(document.Get(entry, columnBookedBy, []string(nil)))
	}
	require.Equal(t, 1, taken, "two films would do, and one was booked")
}

func TestDialogue_NamesUnreadableLine(t *testing.T) {
	t.Parallel()
	const ok = `{"dialogue_id": "a", "turns": [{"speaker": "USER", "utterance": "hi"}]}`
	turns := func(more string) string {
		return `{"dialogue_id": "b", "turns": [{"speaker": "USER", "utterance": "hi"}, ` + more + `]}`
	}
	for text, want := range map[string]string{
		`{`:                          "line 2: it is no conversation in JSON",
		`[]`:                         "line 2: it is no conversation in JSON",
		`{"turns": []}`:              "line 2: dialogue_id is missing",
		ok:                           "line 2: the conversation a stands on an earlier line, too",
		`{"dialogue_id": "b"}`:       "line 2: conversation b must begin with a turn whose speaker is USER",
		turns(`{"speaker": "BOT"}`):  `conversation b, turns[1]: speaker is "BOT", and must be USER or SYSTEM`,
		turns(`{"speaker": "USER"}`): "turns[1]: utterance is missing",
		turns(`{"speaker": "SYSTEM", "utterance": "x", "calls": [{"service": "S"}]}`):                                   "turns[1]: calls[0]: service or method is missing",
		turns(`{"speaker": "USER", "utterance": "x", "calls": [{"service": "S", "method": "M"}]}`):                      "turns[1]: calls stand on turns of the SYSTEM only",
		turns(`{"speaker": "SYSTEM", "utterance": "x", "calls": [{"service": "S", "method": "M", "results": [null]}]}`): "turns[1]: calls[0]: a row of results is null",
	} {
		_, err := ReadDialogues(strings.NewReader(ok + "\n" + text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestDialogue_ParametersAreValues(t *testing.T) {
	t.Parallel()
	call := ServiceCall{Parameters: document.O("rating", document.O("$gt", 1), "city", "Ely", "when", "dontcare")}
	require.JSONEq(t, `{"rating": {"$eq": {"$gt": 1}}, "city": {"$eq": "Ely"}}`, call.Filter().String())
}
