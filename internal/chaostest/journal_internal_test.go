package chaostest

import (
	"os"
	"path/filepath"
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
