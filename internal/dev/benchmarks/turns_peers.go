package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// frameworks are the peers in turns.mjs.
var frameworks = []string{"botbuilder", "grammy"}

// Why no peer can be started.
var (
	errNoNode     = errors.New("node is not there: install Node.js 20 or later")
	errNoPackages = errors.New("its packages are not there: run npm ci --ignore-scripts in internal/dev")
)

// process is a framework at work in a process of its own.
type process struct {
	framework string
	in        io.WriteCloser
	out       *bufio.Reader
	wait      func() error
}

// startPeers starts the frameworks, and tells of those that the machine lacks something for.
func startPeers(ctx context.Context, out *strings.Builder) (started []*process) {
	for _, framework := range frameworks {
		p, err := startPeer(ctx, framework)
		if err != nil {
			fmt.Fprintf(out, "%s is left out: %v.\n\n", framework, err)
			continue
		}
		started = append(started, p)
	}
	return started
}

// startPeer starts a framework. The error is errNoNode or errNoPackages where the machine lacks what it needs.
func startPeer(ctx context.Context, framework string) (*process, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errNoNode
	}
	if _, err := os.Stat(filepath.Join("..", "node_modules")); errors.Is(err, fs.ErrNotExist) {
		return nil, errNoPackages
	}
	//nolint:gosec // It is one of the frameworks above.
	command := exec.CommandContext(ctx, node, "turns.mjs", framework)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &process{framework: framework, in: in, out: bufio.NewReader(out), wait: command.Wait}, nil
}

// turns asks a peer for turns.
func (p *process) turns(slice time.Duration) (timing, string, error) {
	if _, err := fmt.Fprintln(p.in, slice.Milliseconds()); err != nil {
		return 0, "", err
	}
	var answer struct {
		Nanoseconds float64 `json:"nanoseconds"`
		Reply       string  `json:"reply"`
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return 0, "", fmt.Errorf("%s answers nothing: %w", p.framework, err)
	}
	err = json.Unmarshal(line, &answer)
	return timing(answer.Nanoseconds), answer.Reply, err
}

// close ends the process.
func (p *process) close() {
	_ = p.in.Close() // It ends where its input ends.
	_ = p.wait()
}
