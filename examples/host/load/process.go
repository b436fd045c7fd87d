package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
)

// process is the host, which is started again and again.
type process struct {
	program     string
	args        []string
	environment []string
	// at is the address at which it listens, of its last start.
	at atomic.Pointer[string]

	command *exec.Cmd
	// logged is closed when its log has ended.
	logged chan struct{}
	last   string
}

// serving is the line of the log that tells where the host listens.
var serving = regexp.MustCompile(`msg=serving address=(\S+)`)

// address returns where the host listened last.
func (p *process) address() string { return *p.at.Load() }

// start starts the host, and returns when it listens.
func (p *process) start(ctx context.Context) error {
	p.command = exec.CommandContext(ctx, p.program, p.args...) //nolint:gosec // The program is who runs this one's choice.
	p.command.Env = append(os.Environ(), p.environment...)
	log, err := p.command.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.command.Start(); err != nil {
		return err
	}
	listens := make(chan string, 1)
	p.logged = make(chan struct{})
	go p.readLog(log, listens)
	select {
	case address := <-listens:
		p.at.Store(&address)
		return nil
	case <-p.logged:
		return fmt.Errorf("the host did not start: %w: %s", p.command.Wait(), p.last)
	}
}

// readLog reads the log to its end. It tells the address once, and keeps the last line.
func (p *process) readLog(log io.Reader, listens chan<- string) {
	defer close(p.logged)
	for lines := bufio.NewScanner(log); lines.Scan(); p.last = lines.Text() {
		if found := serving.FindStringSubmatch(lines.Text()); found != nil {
			listens <- found[1]
		}
	}
}

// kill ends the host as a crash does.
func (p *process) kill() error {
	if err := p.command.Process.Kill(); err != nil {
		return err
	}
	<-p.logged
	_ = p.command.Wait() // It was killed.
	return nil
}

// stop ends the host in good order.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(err, p.kill())
	}
	<-p.logged
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("the host did not stop in good order: %w: %s", err, strings.TrimSpace(p.last))
	}
	return nil
}
