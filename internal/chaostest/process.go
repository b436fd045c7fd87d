package chaostest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The words between the platform and the processes; member and number of an event follow them.
const (
	// wordAccept tells what arrived, and what the event asks for. The answer is wordAccepted or
	// wordRefused.
	wordAccept   = "accept"
	wordAccepted = "accepted"
	wordRefused  = "refused"
	// wordAmid says that a run waits for wordGo, and wordEnded that a run has ended.
	wordAmid  = "amid"
	wordGo    = "go"
	wordEnded = "ended"
	// wordDead says that an event is a dead letter.
	wordDead = "dead"
)

// process is one that the platform has started.
type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	// complaint is what it wrote to its standard error, guarded by mu.
	mu        sync.Mutex
	complaint bytes.Buffer
	// isEnding tells that it was told to end, or killed, and isGone that it has ended.
	isEnding, isGone, isFrozen bool
}

// Write keeps what the process complains of.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.complaint.Write(text)
}

func (p *process) complaints() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.complaint.String()
}

// id is the id of the process.
func (p *process) id() int { return p.command.Process.Pid }

// line is what a process said; at its end it says nothing more, with isEnd.
type line struct {
	from  *process
	word  string
	of    event
	isEnd bool
}

// startProcess starts a process, whose lines go to a channel.
func startProcess(t *testing.T, command *exec.Cmd, to chan<- line) *process {
	t.Helper()
	p := &process{command: command}
	command.Stderr = p
	var err error
	p.input, err = command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			said := line{from: p}
			if _, err := fmt.Sscan(lines.Text(), &said.word, &said.of.member, &said.of.number); err == nil {
				to <- said
			} // Else the process was killed within the line.
		}
		to <- line{from: p, isEnd: true}
	}()
	return p
}

// tell tells a process something. One that has died does not hear it.
func (p *process) tell(word string, e event, more string) {
	_, _ = fmt.Fprintln(p.input, word, e.member, e.number, more)
}
