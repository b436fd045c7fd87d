package conversation_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// rerun runs TestRun of this package's own program in a folder where testdata has one file, and returns
// what it printed and what the file is afterwards.
func rerun(t *testing.T, file string, flags ...string) (out, after string, err error) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "testdata", "kettles.chat")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), program, append([]string{"-test.run", "^TestRun$"}, flags...)...)
	command.Dir = folder
	printed, failed := command.CombinedOutput()
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(printed), string(written), failed
}

// outdated is what the bot says, but for a title and an answer too much.
const outdated = `# Ada buys a kettle.
Ada: kettles
Bot: Which one?
  * Steel
    : holds two litres
    [Buy] [More](https://shop.example/steel)
  * Copper
    [Buy]
Ada taps [Buy]
# She is thanked.
Bot: You bought steel.
Bot: Thank you!
`

func TestRun_ShowsWhatDiffers(t *testing.T) {
	t.Parallel()
	out, after, err := rerun(t, outdated)
	require.Error(t, err)
	require.Contains(t, out, "--- FAIL: TestRun/kettles")
	require.Contains(t, out, "kettles.chat differs: - is the file, + what came\n")
	require.Contains(t, out, "-  * Copper\n            +  * Glass\n")
	require.Contains(t, out, "-Bot: Thank you!\n")
	require.Contains(t, out, "go test -run '^TestRun/kettles$' -update writes it.")
	require.NotContains(t, out, "needs the flag")
	require.Equal(t, outdated, after)
}

func TestRun_TakesAnyLineEnds(t *testing.T) {
	t.Parallel()
	checkedOut := "Ada: kettles\r\nBot: Which one?\r\n  * Steel\r\n    : holds two litres\r\n    [Buy] [More](https://shop.example/steel)\r\n" +
		"  * Glass\r\n    [Buy]\r\n\r\nAda: pay\r\n  | now\r\n"
	for _, flags := range [][]string{nil, {"-update"}} {
		out, after, err := rerun(t, checkedOut, flags...)
		require.NoError(t, err, out)
		require.Equal(t, checkedOut, after, "it is not written anew either")
	}
}

func TestRun_Update(t *testing.T) {
	t.Parallel()
	out, after, err := rerun(t, outdated, "-update")
	require.NoError(t, err, out)
	require.Equal(t, `# Ada buys a kettle.
Ada: kettles
Bot: Which one?
  * Steel
    : holds two litres
    [Buy] [More](https://shop.example/steel)
  * Glass
    [Buy]

Ada taps [Buy]
# She is thanked.
Bot: You bought steel.
`, after)
}

func TestRun_Mistakes(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"Ada: kettles\nwhat\n":                                 "testdata/kettles.chat:2: \"what\" says nothing that is understood",
		"Ada: x\nAda taps [Buy]\n":                             "testdata/kettles.chat: line 2: Ada is shown nothing that can be tapped",
		"Ada: kettles\nAda taps [Pay]\n":                       "line 2: Ada is shown nothing of the title \"Pay\" to tap: there is [Buy], [Buy]",
		"Ada takes the ticket\n":                               "line 1: Ada is no agent: agents take tickets, and a line such as \"agent Grace at support\" adds one",
		"Ada ends the chat\n":                                  "line 1: Ada is no agent: agents end live chats",
		"member Ada\nAad: hi\n":                                "line 2: nobody is called Aad: perhaps Ada is meant: a line such as \"member Aad\" adds a member",
		"member Ada\nmember Ada\n":                             "line 2: somebody is called Ada already",
		"member Ada at page\n":                                 "testdata/kettles.chat: the test ended at line 1",
		"desk support\n":                                       "line 1: a desk serves the members who were added before it",
		"member Ada\ndesk s\nagent G at s\nG takes the ticket": "line 4: G has no open ticket",
		"member Ada\ndesk s\nagent G at s\nG takes ticket 2":   "line 4: G has no ticket 2: there are 0",
	} {
		for _, flags := range [][]string{nil, {"-update"}} {
			out, after, err := rerun(t, file, flags...)
			require.Error(t, err, file)
			require.Contains(t, out, want, file)
			require.Equal(t, file, after)
		}
	}
}
