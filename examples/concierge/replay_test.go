package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// otherTime is a ReserveRestaurant call whose recorded row has another time than was
// asked for: the restaurant had no table then, and offered the nearest that it had.
type otherTime struct {
	dialogue        string
	turn            int
	asked, recorded string
}

// otherTimes are all such calls.
var otherTimes = []otherTime{
	{"1_00003", 9, "11:15", "11:00"},
	{"1_00008", 5, "18:15", "18:00"},
	{"1_00012", 9, "18:45", "18:30"},
	{"1_00013", 7, "17:45", "18:00"},
	{"1_00015", 7, "11:45", "12:00"},
	{"1_00018", 5, "11:45", "12:00"},
	{"1_00020", 9, "19:15", "19:30"},
	{"1_00022", 9, "18:45", "18:30"},
	{"1_00024", 9, "11:45", "12:00"},
	{"1_00025", 7, "18:15", "18:30"},
	{"1_00026", 7, "17:30", "17:00"},
	{"1_00027", 7, "16:45", "17:00"},
}

// row is a row, or the parameters of a call, as they stand in the file.
type row map[string]string

// satisfies reports whether a row has what parameters ask for.
func (r row) satisfies(parameters row) bool {
	for slot, value := range parameters {
		if got, ok := r[slot]; value != "dontcare" && (!ok || got != value) {
			return false
		}
	}
	return true
}

// text returns a row as one string, in which two rows differ if they do.
func (r row) text(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return string(text)
}

// texts returns rows as texts, in order.
func texts(t *testing.T, rows []row) []string {
	t.Helper()
	all := make([]string, 0, len(rows))
	for _, r := range rows {
		all = append(all, r.text(t))
	}
	slices.Sort(all)
	return all
}

// recordedCall is a call as it stands in the file, read without the program's help.
type recordedCall struct {
	Service    string `json:"service"`
	Method     string `json:"method"`
	Parameters row    `json:"parameters"`
	Results    []row  `json:"results"`
}

// recorded is the file, twice: as the program reads it, and read plainly.
type recorded struct {
	dialogues []Dialogue
	plain     []struct {
		Turns []struct {
			Calls []recordedCall `json:"calls"`
		} `json:"turns"`
	}
}

// readShared returns a file of the data that lies beside the module, and skips the
// test where the module stands alone.
func readShared(t *testing.T, name ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared", "data"}, name...)...)
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED: the real data is absent: there is no %s beside this clone, so nothing was checked against it", path)
	}
	require.NoError(t, err)
	return string(text)
}

// readRecorded reads the recorded conversations.
func readRecorded(t *testing.T) recorded {
	t.Helper()
	text := readShared(t, "conversations", "dialogues.jsonl")
	var r recorded
	var err error
	r.dialogues, err = ReadDialogues(strings.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte("["+strings.Join(strings.Split(strings.TrimSpace(text), "\n"), ",")+"]"), &r.plain))
	require.Len(t, r.dialogues, 256)
	require.Len(t, r.plain, 256)
	return r
}

// rowsOf returns the different rows that the calls of each service and method returned.
func (r recorded) rowsOf(t *testing.T) map[string][]row {
	t.Helper()
	rows, seen := map[string][]row{}, map[string]bool{}
	for _, dialogue := range r.plain {
		for _, turn := range dialogue.Turns {
			for _, call := range turn.Calls {
				source := call.Service + "." + call.Method
				for _, result := range call.Results {
					if key := source + result.text(t); !seen[key] {
						seen[key] = true
						rows[source] = append(rows[source], result)
					}
				}
			}
		}
	}
	return rows
}

// foundRow returns an entry as the row that it was made of.
func foundRow(t *testing.T, entry document.Object) row {
	t.Helper()
	var r row
	for _, own := range []string{"_id", "createdAt", "updatedAt", columnBookedBy} {
		entry = entry.Without(own)
	}
	require.NoError(t, document.Decode(entry, &r))
	return r
}

// foundRows returns entries as rows.
func foundRows(t *testing.T, entries []document.Object) []row {
	t.Helper()
	rows := make([]row, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, foundRow(t, entry))
	}
	return rows
}

// satisfying returns the rows that have what parameters ask for.
func satisfying(rows []row, parameters row) []row {
	var found []row
	for _, r := range rows {
		if r.satisfies(parameters) {
			found = append(found, r)
		}
	}
	return found
}

func TestReplay_GivesBackRows(t *testing.T) {
	t.Parallel()
	data := readRecorded(t)
	p := fakes.New(fakes.For(t))
	operations := p.Operations(botctx.Scope{})
	require.NoError(t, SaveRows(t.Context(), operations, data.dialogues))

	rows := data.rowsOf(t)
	calls, recordedRows := 0, 0
	var exceptions []otherTime
	for d, dialogue := range data.dialogues {
		for i, turn := range dialogue.Turns {
			for c, call := range turn.Calls {
				plain := data.plain[d].Turns[i].Calls[c]
				entries, err := lookUp(t.Context(), operations, call)
				require.NoError(t, err)
				found := foundRows(t, entries)
				calls, recordedRows = calls+1, recordedRows+len(plain.Results)

				// Only rows that satisfy the parameters, all that do, and each once.
				want := texts(t, satisfying(rows[call.DataSource()], plain.Parameters))
				require.Equal(t, want, texts(t, found), "%s turn %d: %s", dialogue.ID, i, call.DataSource())

				// Every row that was recorded for the call.
				for _, r := range plain.Results {
					if slices.Contains(want, r.text(t)) {
						continue
					}
					require.Equal(t, "ReserveRestaurant", call.Method, "%s turn %d: a recorded row is not found", dialogue.ID, i)
					exceptions = append(exceptions, otherTime{dialogue.ID, i, plain.Parameters["time"], r["time"]})
					asked := maps.Clone(plain.Parameters)
					asked["time"] = r["time"]
					require.True(t, r.satisfies(asked), "%s turn %d: the row differs in more than its time", dialogue.ID, i)
				}
			}
		}
	}
	require.Equal(t, 623, calls)
	require.Equal(t, 1814, recordedRows)
	require.ElementsMatch(t, otherTimes, exceptions)
}

func TestReplay_DataSourcePerMethod(t *testing.T) {
	t.Parallel()
	data := readRecorded(t)
	p := fakes.New(fakes.For(t))
	require.NoError(t, SaveRows(t.Context(), p.Operations(botctx.Scope{}), data.dialogues))
	sources := data.rowsOf(t)
	require.Len(t, sources, 10)
	for source, rows := range sources {
		require.Equal(t, texts(t, rows), texts(t, foundRows(t, p.Data(source))), source)
	}
}

// replayed is a platform on which all conversations were held.
type replayed struct {
	recorded
	platform *fakes.Platform
	guests   []*fakes.Actor
}

// sayEverything replays all conversations; a user says everything so many times.
func sayEverything(t *testing.T, times int) replayed {
	t.Helper()
	r := replayed{recorded: readRecorded(t), platform: fakes.New(fakes.For(t))}
	require.NoError(t, SaveRows(t.Context(), r.platform.Operations(botctx.Scope{}), r.dialogues))
	r.platform.HandleFunc(NewReplay(r.dialogues).Answer)
	for _, dialogue := range r.dialogues {
		guest := r.platform.AddMember(member.Member{ExternalID: dialogue.ID})
		r.guests = append(r.guests, guest)
		for i, turn := range dialogue.Turns {
			for range times {
				if turn.Speaker == speakerUser {
					guest.Sends(Message(dialogue, i))
				}
			}
		}
	}
	return r
}

func TestReplay_SavesAnswers(t *testing.T) {
	t.Parallel()
	r := sayEverything(t, 1)
	requireRecordedReplies(t, r)
	requireSavedAnswers(t, r)
}

func requireRecordedReplies(t *testing.T, r replayed) {
	t.Helper()
	said := map[string][]string{}
	for _, sent := range r.platform.Sent() {
		said[sent.To] = append(said[sent.To], sent.Response.Text())
	}
	for _, dialogue := range r.dialogues {
		var want []string
		for _, turn := range dialogue.Turns {
			if turn.Speaker == speakerSystem {
				want = append(want, turn.Utterance)
			}
		}
		require.Equal(t, want, said[dialogue.ID], dialogue.ID)
	}
	require.Len(t, r.platform.Calls(botctx.OpSendResponse), 1908)
}

func requireSavedAnswers(t *testing.T, r replayed) {
	t.Helper()
	for d, dialogue := range r.dialogues {
		want := map[string]string{}
		for _, turn := range dialogue.Turns {
			for _, act := range turn.Acts {
				if turn.Speaker == speakerUser && act.Act == "INFORM" {
					want[act.Slot] = act.Values[0]
				}
			}
		}
		require.Equal(t, want, document.Get(r.guests[d].Member().Meta, "slots", map[string]string{}), dialogue.ID)
	}
	require.Len(t, r.platform.Calls(botctx.OpFindAndModifyMember), 975)
}

func TestReplay_EverythingTwice(t *testing.T) {
	t.Parallel()
	r := sayEverything(t, 2)
	rows, booked := r.rowsOf(t), 0
	entries := map[string][]document.Object{}
	for source := range rows {
		entries[source] = r.platform.Data(source)
	}
	for d, dialogue := range r.plain {
		for _, turn := range dialogue.Turns {
			for _, call := range turn.Calls {
				source := call.Service + "." + call.Method
				taken := bookedBy(t, entries[source], r.guests[d].ID(), call.Parameters)
				want := 0
				if isBooking(call.Method) && len(satisfying(rows[source], call.Parameters)) > 0 {
					want = 1
				}
				require.Equal(t, want, taken, "%s: %s", r.dialogues[d].ID, source)
				booked += taken
			}
		}
	}
	require.Equal(t, 147, booked)
}

// isBooking reports whether a method of the recorded services books something.
func isBooking(method string) bool {
	return slices.Contains([]string{"ReserveRestaurant", "RentMovie", "PlaySong", "GetRide"}, method)
}

// bookedBy counts how often a member booked what satisfies parameters.
func bookedBy(t *testing.T, entries []document.Object, memberID string, parameters row) int {
	t.Helper()
	taken := 0
	for _, entry := range entries {
		by := document.Get(entry, columnBookedBy, []string(nil))
		if slices.Contains(by, memberID) && foundRow(t, entry).satisfies(parameters) {
			taken += len(slices.DeleteFunc(by, func(id string) bool { return id != memberID }))
		}
	}
	return taken
}
