package chaostest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJournal_ReadsNothingOfAnEntryThatWasCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	noted, err := openJournal(path)
	require.NoError(t, err)
	first := entry{what: began, process: 1, member: "m1", number: 1, more: "-"}
	second := entry{what: killed, process: 1, member: "-", more: "-"}
	require.NoError(t, noted.note(first))
	_, err = noted.file.WriteString("\nended 1 m1 1 fi")
	require.NoError(t, err)
	require.NoError(t, noted.note(second))
	require.NoError(t, noted.file.Close())
	read, err := readJournal(path)
	require.NoError(t, err)
	require.Equal(t, []entry{first, second}, read)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "fi\nkilled", "the next entry has a line of its own")
}

// read returns the judge of a journal, whose lines are separated by semicolons.
func read(t *testing.T, journal string) *judge {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	lines := strings.ReplaceAll(journal, "; ", end+"\n") + end
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	entries, err := readJournal(path)
	require.NoError(t, err)
	return judged(entries)
}

func TestJudge_AcceptsWhatIsRight(t *testing.T) {
	t.Parallel()
	for name, journal := range map[string]string{
		"one after the other": "began 1 ada 1 -; ended 1 ada 1 fine; done 1 ada 1 -; began 2 ada 2 -",
		"members at once":     "began 1 ada 1 -; began 1 bob 1 -; ended 1 bob 1 fine; ended 1 ada 1 fine",
		"killed during it":    "began 1 ada 1 -; killed 1 - 0 -; failed 2 ada 1 Internal; began 2 ada 1 -",
		"killed at its end":   "began 1 ada 1 -; ended 1 ada 1 fine; killed 1 - 0 -; began 2 ada 1 -",
		"under way when killed": "began 1 ada 1 -; sent 1 ada 1 0/k; killed 1 - 0 -; " +
			"began 2 ada 1 -; sent 2 ada 1 0/k; replied 2 ada 1 0",
		"overtaken as its send returns": "began 1 ada 1 -; sent 1 ada 1 0/k; frozen 1 - 0 -; thawed 1 - 0 -; replied 1 ada 1 0; " +
			"began 2 ada 1 -; sent 2 ada 1 0/k",
		"lease expired": "began 1 ada 1 -; expired 2 ada 0 taken; began 2 ada 1 -; sent 1 ada 1 0/k; ended 1 ada 1 Conflict; " +
			"sent 2 ada 1 0/k; ended 2 ada 1 fine; done 2 ada 1 -",
		"lease expired, noticed by the run first": "began 1 ada 1 -; ended 1 ada 1 Conflict; expired 2 ada 0 taken; failed 2 ada 1 Conflict; " +
			"began 2 ada 1 -",
		"lease expired at its end":  "began 1 ada 1 -; ended 1 ada 1 fine; expired 2 ada 0 taken; began 2 ada 1 -",
		"lease expired and renewed": "began 1 ada 1 -; ended 1 ada 1 Conflict; expired 1 ada 0 renewed; failed 1 ada 1 Conflict; began 2 ada 1 -",
		"lease expired as its send returns": "began 1 ada 1 -; sent 1 ada 1 0/k; replied 1 ada 1 0; expired 2 ada 0 taken; " +
			"began 2 ada 1 -; sent 2 ada 1 0/k",
		"overtaken": "began 1 ada 1 -; frozen 1 - 0 -; began 2 ada 1 -; ended 2 ada 1 fine; done 2 ada 1 -; " +
			"began 2 ada 2 -; thawed 1 - 0 -; refused 1 ada 1 send; ended 1 ada 1 Conflict",
	} {
		require.Empty(t, read(t, journal).faults, name)
	}
}

func TestJudge_ALateWriteIsOfARunThatWasFrozenBeforeItSent(t *testing.T) {
	t.Parallel()
	const overtaken = "frozen 1 - 0 -; began 2 ada 1 -; ended 2 ada 1 fine; done 2 ada 1 -; began 2 ada 2 -; ended 2 ada 2 fine"
	for journal, left := range map[string][]int{
		"began 1 ada 1 -; " + overtaken:                        {1, 2},
		"began 1 ada 1 -; sent 1 ada 1 0/k; " + overtaken:      {1, 2, 1},
		"began 1 ada 1 -; ended 1 ada 1 fine; began 1 ada 2 -": {1, 2, 1},
	} {
		require.Equal(t, left, read(t, journal).inTime(&sender{name: "ada"}, []int{1, 2, 1}), journal)
	}
}

func TestJudge_SeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	const fineRun = "began 1 ada 1 -; ended 1 ada 1 fine; "
	for journal, fault := range map[string]string{
		"began 1 ada 2 -":                                                                      "the member's first event was skipped",
		"began 1 ada 1 -; began 2 ada 1 -":                                                     "the run of event 1 in process 1 has not ended",
		"began 1 ada 1 -; began 2 ada 2 -":                                                     "the run of event 1 in process 1 has not ended",
		fineRun + "began 1 ada 3 -":                                                            "the previous event of the member was 1",
		fineRun + "began 2 ada 1 -":                                                            "process 1, which is alive, has already run the event",
		fineRun + "done 1 ada 1 -; began 1 ada 1 -":                                            "the event is already done",
		"began 1 ada 1 -; killed 1 - 0 -; began 2 ada 2 -":                                     "the previous event of the member was not handled",
		fineRun + "done 1 ada 1 -; killed 1 - 0 -; began 2 ada 1 -":                            "the event is already done",
		"began 1 ada 1 -; ended 1 ada 1 Internal":                                              "a run failed although its process was not harmed",
		"began 1 ada 1 -; failed 1 ada 1 Internal":                                             "an attempt failed although its process was not harmed",
		"began 1 ada 1 -; sent 1 ada 1 0/k; sent 1 ada 1 0/k":                                  "process 1, which is alive, has already sent the message",
		"began 1 ada 1 -; sent 1 ada 1 0/k; sent 1 ada 1 1/k":                                  "the key belongs to the message {{ada 1} 0}",
		"began 1 ada 1 -; sent 1 ada 1 0/k; killed 1 - 0 -; began 2 ada 1 -; sent 2 ada 1 0/l": "the message had the key k before",
		"began 1 ada 1 -; sent 1 ada 1 0/k; replied 1 ada 1 0; killed 1 - 0 -; began 2 ada 1 -; sent 2 ada 1 0/k": "the message was sent again after its reply was stored",
		"began 1 ada 1 -; frozen 1 - 0 -; began 2 ada 1 -; sent 1 ada 1 0/k; sent 1 ada 1 1/l":                    "an overtaken run sent more than one message",
		"began 1 ada 1 -; sent 1 ada 1 0/k; replied 1 ada 1 0; sent 1 ada 1 1/l; replied 1 ada 1 1; expired 2 ada 0 taken; " +
			"began 2 ada 1 -; sent 2 ada 1 0/k": "the message was sent again after its reply was stored",
		"began 1 ada 1 -; expired 2 bob 0 taken; began 2 ada 1 -":                         "the run of event 1 in process 1 has not ended",
		"began 1 ada 1 -; expired 2 ada 0 taken; began 2 ada 1 -; began 3 ada 1 -":        "the run of event 1 in process 2 has not ended",
		fineRun + "done 1 ada 1 -; expired 2 ada 0 taken; began 2 ada 1 -":                "the event is already done",
		"began 1 ada 1 -; ended 1 ada 1 Conflict; began 2 ada 1 -; expired 3 ada 0 taken": "a run failed although its process was not harmed",
		"began 1 ada 1 -; ended 1 ada 1 Conflict; killed 1 - 0 -; began 2 ada 1 -":        "a run failed although its process was not harmed",
		"began 1 ada 1 -; expired 2 ada 0 renewed; began 2 ada 1 -":                       "the run of event 1 in process 1 has not ended",
		"sent 1 ada 1 0/k": "the run never began",
	} {
		faults := read(t, journal).faults
		require.NotEmpty(t, faults, journal)
		require.Contains(t, faults[len(faults)-1], fault, journal)
	}
}

func TestJudge_DescribesWhatTheMemberDidBefore(t *testing.T) {
	t.Parallel()
	faults := read(t, "began 1 ada 1 -; began 1 bob 1 -; done 1 ada 1 -; killed 1 - 0 -; ended 1 ada 1 fine; began 2 ada 1 -").faults
	require.Len(t, faults, 1)
	require.Contains(t, faults[0], "\tafter began 1 ada 1 -; done 1 ada 1 -; killed 1 - 0 -; ended 1 ada 1 fine")
}
