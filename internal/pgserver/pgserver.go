// Package pgserver runs a PostgreSQL server for tests, on a socket in a temporary folder. The server ends with
// the process, even if the process is killed.
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

// URLVariable is the environment variable with the address of a server. If it is set, the tests use that server
// and do not start one.
const URLVariable = "POSTGRES_URL"

// Missing is the text with which tests are skipped if there is no server.
const Missing = "there is no PostgreSQL: install Debian's postgresql-15, or set " + URLVariable

// Server is a running server.
type Server struct {
	// URL is the server's address for pgx.
	URL string

	folder string
	// commands is the input of the shell that runs the server. Each line restarts the server, and the end of
	// the input stops it.
	commands io.WriteCloser
	// answers has a line for each time that the server has ended.
	answers *bufio.Scanner
	shell   *exec.Cmd
}

// programs returns the folder of the server's programs, or "" if they are not installed.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // The pattern is always valid.
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// stateLine is the number of the line with the server's state in postmaster.pid.
const stateLine = 7

// serve is the script that runs the server. Its arguments are the folder of the programs, the folder for the
// data, and the settings.
const serve = `
trap "" INT TERM HUP # The end of the input stops it.
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

// Start starts a server. settings are for example "fsync=off". If the server's programs are not installed,
// Start returns nil.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	bin := programs()
	if bin == "" {
		return nil, nil //nolint:nilnil // There is no server to start.
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
	s.shell = exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", arguments...) //nolint:gosec // The test chose them.
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

// patience is the longest wait for a server. Recovery takes long on a busy machine.
const patience = 5 * time.Minute

// await waits until the server reports in its file that it is ready.
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
			return errors.New("the server did not become ready in time")
		}
	}
}

// Restart ends the server by a signal and starts it again. The signal INT closes connections, and QUIT does so
// without waiting for their writes.
func (s *Server) Restart(ctx context.Context, signal string) error {
	if _, err := fmt.Fprintln(s.commands, signal); err != nil {
		return err
	}
	if !s.answers.Scan() {
		return errors.New("the server did not end in time")
	}
	return s.await(ctx)
}

// Stop stops the server and removes its folder.
func (s *Server) Stop() {
	_ = s.commands.Close()
	_ = s.shell.Wait()
}
