// Package pgserver runs a PostgreSQL server for the tests of a package, on a socket in a temporary folder. The server
// ends with the process, even if the process is killed.
package pgserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// URLVariable names the environment variable with the URL of a server for tests to use instead.
const URLVariable = "POSTGRES_URL"

// Missing is the reason to skip a test without a server.
const Missing = "there is no PostgreSQL: install Debian's postgresql-15, or set " + URLVariable

// Server is a running server.
type Server struct {
	// URL is the server's address for pgx.
	URL string

	folder string
	// commands is the input of the shell that runs the server. Each line restarts the server; the end of input stops
	// it.
	commands io.WriteCloser
	// answers has a line each time the server has stopped.
	answers *bufio.Scanner
	shell   *exec.Cmd
}

// programs returns the folder of the server's programs, or "" if there are none.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Glob only fails for an invalid pattern.
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// stateLine is the line of postmaster.pid with the server's state.
const stateLine = 7

// serve is the shell script that runs the server. Its arguments are the programs' folder, the server's folder, and
// the settings.
const serve = `
trap "" INT TERM HUP # The end of the lines ends it.
bin=$1 folder=$2
shift 2
start() { "$bin/postgres" -D "$folder/data" -k "$folder" "$@" >>"$folder/log" 2>&1 & server=$!; }
stop() { kill "-$1" "$server"; wait "$server"; }
"$bin/initdb" -D "$folder/data" -U botctx -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
start "$@"
while read -r signal; do stop "$signal"; start "$@"; echo started; done
stop QUIT
rm -rf "$folder"
`

// Start starts a server with settings such as "fsync=off". It returns nil if the server's programs are not installed.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	bin := programs()
	if bin == "" {
		return nil, nil //nolint:nilnil // No server and no error.
	}
	folder, err := os.MkdirTemp("", "botctx-postgres-")
	if err != nil {
		return nil, err
	}
	arguments := []string{"-c", serve, "serve", bin, folder, "-c", "listen_addresses="}
	for _, setting := range settings {
		arguments = append(arguments, "-c", setting)
	}
	s := &Server{URL: "host=" + folder + " user=botctx dbname=postgres", folder: folder}
	s.shell = exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", arguments...) //nolint:gosec // They are the test's own.
	s.shell.Stderr = os.Stderr
	if err := runAsOther(s.shell, folder); err != nil {
		return nil, err
	}
	output, err := s.shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.answers = bufio.NewScanner(output)
	if s.commands, err = s.shell.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.shell.Start(); err != nil {
		return nil, err
	}
	if err := s.await(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// patience is the maximum wait for a server, which may take long to recover on a busy machine.
const patience = 5 * time.Minute

// await waits until the server reports in postmaster.pid that it is ready.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		state, _ := os.ReadFile(filepath.Join(s.folder, "data", "postmaster.pid")) // The file may not exist yet.
		if lines := strings.Split(string(state), "\n"); len(lines) > stateLine && strings.TrimSpace(lines[stateLine]) == "ready" {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.New("the server does not become ready")
		}
	}
}

// Restart restarts the server. signal is the signal with which it stops: INT ends connections, and QUIT does not even
// wait for their writes.
func (s *Server) Restart(ctx context.Context, signal string) error {
	if _, err := fmt.Fprintln(s.commands, signal); err != nil {
		return err
	}
	if !s.answers.Scan() {
		return errors.New("the server does not end")
	}
	return s.await(ctx)
}

// Stop stops the server and removes its folder.
func (s *Server) Stop() {
	_ = s.commands.Close()
	_ = s.shell.Wait()
}
