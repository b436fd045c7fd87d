package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// ownNamespace is set in the process that may mount a file system, invisible to others.
const ownNamespace = "HOST_TEST_OWN_NAMESPACE"

// inOwnNamespace runs the test again in a process that may mount file systems, and reports whether this is
// that process. It skips the test if the system does not allow one.
func inOwnNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownNamespace) != "" {
		return true
	}
	own := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), ownNamespace+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid()),
	}
	said, err := again.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended):
		t.Skipf("the system starts no process in a namespace of its own: %v", err)
	case strings.Contains(string(said), "--- SKIP"):
		t.Skipf("%s", said)
	}
	require.NoError(t, err, string(said))
	require.Contains(t, string(said), "--- PASS")
	return false
}

// smallDisk mounts a file system of a size and returns its folder, and a function that changes the size.
func smallDisk(t *testing.T, size string) (folder string, resize func(size string)) {
	t.Helper()
	folder = t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		require.ErrorIs(t, err, fs.ErrPermission)
		t.Skipf("the system mounts no small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder, func(size string) {
		require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, "size="+size))
	}
}

// keptIn returns the ids in the texts of the messages in the inbox of a file.
func keptIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	database, err := sqlite.Open(file)
	require.NoError(t, err)
	found, err := database.Collection("inbox").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.NoError(t, database.Close())
	kept := map[string]bool{}
	for _, event := range found {
		said := strings.Fields(document.Get(event, "body.event.data.text", ""))
		require.Len(t, said, 3, event.Keys())
		kept[said[1]] = true
	}
	return kept
}

func TestSmallDisk_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	if !inOwnNamespace(t) {
		return
	}
	folder, resize := smallDisk(t, "8m")
	file := filepath.Join(folder, "bots.db")
	w := newWorld(t, "-file", file, "-stop-within", "1ms")
	require.Equal(t, http.StatusOK, w.get("/readyz").status)
	var acknowledged []string
	refused := reply{status: http.StatusOK}
	for i := 0; refused.status == http.StatusOK && i < 1_000; i++ {
		id := fmt.Sprintf("m%d", i)
		if refused = <-w.post(id, "hello "+id+" "+strings.Repeat("x", 50_000), secretOfTests); refused.status == http.StatusOK {
			acknowledged = append(acknowledged, id)
		}
	}
	require.Equal(t, http.StatusServiceUnavailable, refused.status, refused.body)
	require.Greater(t, len(acknowledged), 50)
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusServiceUnavailable }, patience, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, w.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, (<-w.post("later", "hello", secretOfTests)).status)

	resize("64m")
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusOK }, patience, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, (<-w.post("freed", "hello freed x", secretOfTests)).status, "it goes on without a restart")
	acknowledged = append(acknowledged, "freed")
	w.cancel()
	require.NoError(t, <-w.stopped)
	kept := keptIn(t, file)
	for _, id := range acknowledged {
		require.True(t, kept[id], id)
	}
	w.start()
	for range acknowledged {
		w.chat.hears()
	}
	require.Equal(t, http.StatusOK, w.get("/readyz").status)
	w.stop()
}
