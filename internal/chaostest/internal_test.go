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

// read judges a journal whose lines are separated by semicolons.
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
		"began 1 ada 2 -":                                                                      "the first event of the member is left out",
		"began 1 ada 1 -; began 2 ada 1 -":                                                     "the run of 1 in process 1 is under way",
		"began 1 ada 1 -; began 2 ada 2 -":                                                     "the run of 1 in process 1 is under way",
		fineRun + "began 1 ada 3 -":                                                            "the event before was 1",
		fineRun + "began 2 ada 1 -":                                                            "it was handled in process 1, which lives",
		fineRun + "done 1 ada 1 -; began 1 ada 1 -":                                            "it is done",
		"began 1 ada 1 -; killed 1 - 0 -; began 2 ada 2 -":                                     "the event before is not handled",
		fineRun + "done 1 ada 1 -; killed 1 - 0 -; began 2 ada 1 -":                            "it is done",
		"began 1 ada 1 -; ended 1 ada 1 Internal":                                              "a run failed that was not harmed",
		"began 1 ada 1 -; failed 1 ada 1 Internal":                                             "an attempt failed that was not harmed",
		"began 1 ada 1 -; sent 1 ada 1 0/k; sent 1 ada 1 0/k":                                  "it was sent by process 1, which lives",
		"began 1 ada 1 -; sent 1 ada 1 0/k; sent 1 ada 1 1/k":                                  "its key is that of {{ada 1} 0}",
		"began 1 ada 1 -; sent 1 ada 1 0/k; killed 1 - 0 -; began 2 ada 1 -; sent 2 ada 1 0/l": "its key was k",
		"began 1 ada 1 -; sent 1 ada 1 0/k; replied 1 ada 1 0; killed 1 - 0 -; began 2 ada 1 -; sent 2 ada 1 0/k": "it was sent, and that was remembered",
		"began 1 ada 1 -; frozen 1 - 0 -; began 2 ada 1 -; sent 1 ada 1 0/k; sent 1 ada 1 1/l":                    "a run sends on that others have overtaken",
		"began 1 ada 1 -; sent 1 ada 1 0/k; replied 1 ada 1 0; sent 1 ada 1 1/l; replied 1 ada 1 1; expired 2 ada 0 taken; " +
			"began 2 ada 1 -; sent 2 ada 1 0/k": "it was sent, and that was remembered",
		"began 1 ada 1 -; expired 2 bob 0 taken; began 2 ada 1 -":                         "the run of 1 in process 1 is under way",
		"began 1 ada 1 -; expired 2 ada 0 taken; began 2 ada 1 -; began 3 ada 1 -":        "the run of 1 in process 2 is under way",
		fineRun + "done 1 ada 1 -; expired 2 ada 0 taken; began 2 ada 1 -":                "it is done",
		"began 1 ada 1 -; ended 1 ada 1 Conflict; began 2 ada 1 -; expired 3 ada 0 taken": "a run failed that was not harmed",
		"began 1 ada 1 -; ended 1 ada 1 Conflict; killed 1 - 0 -; began 2 ada 1 -":        "a run failed that was not harmed",
		"began 1 ada 1 -; expired 2 ada 0 renewed; began 2 ada 1 -":                       "the run of 1 in process 1 is under way",
		"sent 1 ada 1 0/k": "a run that never began",
	} {
		faults := read(t, journal).faults
		require.NotEmpty(t, faults, journal)
		require.Contains(t, faults[len(faults)-1], fault, journal)
	}
}
