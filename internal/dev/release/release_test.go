package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/botctx/go-sdk/internal/rounds"
)

// nextVersion returns the version in which the modules of the repository require each other.
func nextVersion(t *testing.T) string {
	t.Helper()
	modules, err := readModules("../../..")
	require.NoError(t, err)
	for _, m := range modules {
		for _, required := range m.file.Require {
			if required.Mod.Path == core {
				return required.Mod.Version
			}
		}
	}
	require.Fail(t, "no module requires the core")
	return ""
}

func TestModules_RequireOneVersion(t *testing.T) {
	t.Parallel()
	modules, err := readModules("../../..")
	require.NoError(t, err)
	version := nextVersion(t)
	require.NoError(t, checkVersion(version))
	for _, m := range modules {
		for _, required := range m.file.Require {
			if isOurs(required.Mod.Path) {
				require.Equal(t, version, required.Mod.Version, "%s/go.mod requires %s: run make release", m.folder, required.Mod.Path)
			}
		}
	}
}

// If all modules use the same version of a dependency, tests compile it only once.
func TestModules_ShareVersions(t *testing.T) {
	t.Parallel()
	modules, err := readModules("../../..")
	require.NoError(t, err)
	versions, folders := map[string]string{}, map[string]string{}
	for _, m := range modules {
		for _, required := range m.file.Require {
			path, version := required.Mod.Path, required.Mod.Version
			if _, known := versions[path]; !known {
				versions[path], folders[path] = version, m.folder
			}
			require.Equal(t, versions[path], version, "%s/go.mod and %s/go.mod require two versions of %s: take the later one in both",
				folders[path], m.folder, path)
		}
	}
}

func TestModules_TakeEachOtherFromTheirFolders(t *testing.T) {
	t.Parallel()
	modules, err := readModules("../../..")
	require.NoError(t, err)
	folders := map[string]string{}
	for _, m := range modules {
		folders[m.path] = m.folder
	}
	for _, m := range modules {
		replaced := map[string]string{}
		for _, r := range m.file.Replace {
			replaced[r.Old.Path] = filepath.Join(m.folder, r.New.Path)
		}
		for _, path := range m.ours() {
			require.Equal(t, folders[path], replaced[path], "%s/go.mod needs a replace for %s", m.folder, path)
		}
	}
}

func TestReleased_RequireOnlyReleased(t *testing.T) {
	t.Parallel()
	modules, err := readModules("../../..")
	require.NoError(t, err)
	released := map[string]bool{}
	for _, m := range modules {
		released[m.path] = m.isReleased()
	}
	for _, m := range modules {
		for _, path := range m.ours() {
			require.True(t, released[path] || !m.isReleased(), "%s requires %s, which is not released", m.path, path)
		}
	}
}

func TestRelease_SetsRequiresAndChangelog(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	write("go.mod", "module "+core+"\n")
	write("backends/sqlite/go.mod", "module "+core+"/backends/sqlite\n\nrequire (\n\t"+core+" v0.1.0\n\texample.com/other v1.0.0\n)\n\nreplace "+core+" => ../..\n")
	write("internal/dev/go.mod", "module "+core+"/internal/dev\n\nrequire "+core+"/backends/sqlite v0.1.0\n")
	write("examples/go.mod", "module "+core+"/examples\n")
	write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n- More.\n\n## [0.1.0] - 2026-01-01\n\n- All.\n")

	require.NoError(t, release(root, "v0.2.0", time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)))

	tags, err := tagsOf(root, "v0.2.0")
	require.NoError(t, err)
	require.Equal(t, []string{"v0.2.0", "backends/sqlite/v0.2.0"}, tags)
	for folder, required := range map[string]string{"backends/sqlite": core, "internal/dev": core + "/backends/sqlite"} {
		file, err := readModule(filepath.Join(root, folder, "go.mod"))
		require.NoError(t, err)
		require.Equal(t, "v0.2.0", versionOf(file, required))
		require.Equal(t, folder == "backends/sqlite", versionOf(file, "example.com/other") == "v1.0.0")
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	require.Contains(t, string(changelog), "## [Unreleased]\n\n## [0.2.0] - 2026-02-01\n\n- More.\n")
}

func versionOf(file *modfile.File, path string) string {
	for _, required := range file.Require {
		if required.Mod.Path == path {
			return required.Mod.Version
		}
	}
	return ""
}

func TestRelease_Refusals(t *testing.T) {
	t.Parallel()
	const released = "## [Unreleased]\n\n- More.\n\n## [0.1.0] - 2026-01-01\n"
	for _, test := range []struct{ version, changelog, want string }{
		{"", released, "is not a version"},
		{"0.2.0", released, "is not a version"},
		{"v0.2", released, "is not a version"},
		{"v2.0.0", released, "change them first"},
		{"v0.1.0", released, "already has version v0.1.0"},
		{"v0.2.0", "# Changelog\n", "has no heading"},
		{"v0.2.0", "## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n", "has nothing about v0.2.0"},
	} {
		root := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte(test.changelog), 0o600))
		require.ErrorContains(t, release(root, test.version, time.Time{}), test.want, "%s", test.version)
		after, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
		require.NoError(t, err)
		require.Equal(t, test.changelog, string(after), "nothing is written")
	}
}

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
