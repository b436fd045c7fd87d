package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// TestOutside_BuildsAndRuns packs the modules like a module proxy, and uses them in a module outside the repository,
// which has no replace: a bot with its test, the first bot of the guides, a host with a file, and one with MongoDB.
func TestOutside_BuildsAndRuns(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	o := newOutside(t)

	o.run(t, "test", "./bot", "./firstbot")
	for host, address := range map[string]string{
		"./filehost":  filepath.Join(t.TempDir(), "bots.db"),
		"./mongohost": serveMongo(t) + "bots",
	} {
		require.Equal(t, "to ada: You said: hi\n", o.run(t, "run", host, address), host)
	}
}

// outside is a module outside the repository.
type outside struct {
	folder string
	env    []string
}

// newOutside creates the module from the programs in testdata. It gets this repository's modules from a folder, and
// all others from Go's cache or in the usual way.
func newOutside(t *testing.T) *outside {
	t.Helper()
	proxy, cache := t.TempDir(), t.TempDir()
	require.NoError(t, pack("../../..", proxy, nextVersion(t)))
	o := &outside{folder: t.TempDir(), env: os.Environ()}
	known := filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")
	o.env = append(o.env,
		"GOPROXY=file://"+proxy+",file://"+known+","+goEnv(t, "GOPROXY"), "GONOSUMDB="+core+","+core+"/*",
		"GOMODCACHE="+cache, "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOWORK=off")
	require.NoError(t, os.CopyFS(o.folder, os.DirFS("testdata")))
	require.NoError(t, os.CopyFS(filepath.Join(o.folder, "firstbot"), os.DirFS("../../../docs/guides/firstbot")))
	o.run(t, "mod", "init", "example.com/outside")
	o.run(t, "mod", "tidy")
	file, err := readModule(filepath.Join(o.folder, "go.mod"))
	require.NoError(t, err)
	require.Empty(t, file.Replace)
	return o
}

// run runs the go command in the module and returns its output.
func (o *outside) run(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir, command.Env = o.folder, o.env
	var out, problems strings.Builder
	command.Stdout, command.Stderr = &out, &problems
	require.NoError(t, command.Run(), "go %v: %s%s", args, &out, &problems)
	return out.String()
}

// goEnv returns a setting of the go command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// serveMongo starts a server with MongoDB's protocol and returns its address.
func serveMongo(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "memserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./internal/memserver/serve")
	build.Dir = "../../../backends/mongo"
	text, err := build.CombinedOutput()
	require.NoError(t, err, "building the server: %s", text)
	server := exec.CommandContext(t.Context(), binary) // The end of the test kills the server.
	_, err = server.StdinPipe()
	require.NoError(t, err)
	output, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}
