package guides_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirstBot_FromAnEmptyFolder does what first-bot.md says, beside a clone: each of its commands, and each of its files.
func TestFirstBot_FromAnEmptyFolder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles the SDK for another module")
	}
	clone, err := filepath.Abs("../..")
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.Symlink(clone, filepath.Join(folder, "go-sdk")))
	guide, err := os.ReadFile("first-bot.md")
	require.NoError(t, err)
	steps := regexp.MustCompile("(?ms)^```go\n(.*?)\n```|^ {4}([^\n]*)").FindAllStringSubmatch(string(guide), -1)
	files := []string{"bot.go", "bot_test.go"}
	for _, step := range steps {
		code, command := step[1], step[2]
		switch {
		case code != "" && len(files) > 0:
			require.NoError(t, os.WriteFile(filepath.Join(folder, "firstbot", files[0]), []byte(code), 0o600))
			files = files[1:]
		case strings.HasPrefix(command, "mkdir firstbot && cd firstbot"):
			require.NoError(t, os.Mkdir(filepath.Join(folder, "firstbot"), 0o700))
		case strings.HasPrefix(command, "go "):
			run := exec.CommandContext(t.Context(), "go", strings.Fields(command)[1:]...)
			run.Dir = filepath.Join(folder, "firstbot")
			run.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "PWD="+run.Dir)
			printed, err := run.CombinedOutput()
			require.NoError(t, err, "%s: %s", command, printed)
		}
	}
	require.Empty(t, files, "the guide has these files")
}
