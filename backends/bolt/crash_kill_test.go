package bolt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"

	"github.com/stretchr/testify/require"
)

// writingProcess is a process that writes until it is killed.
type writingProcess struct {
	*exec.Cmd

	said      *output
	complaint *bytes.Buffer
	ended     chan struct{}
}

// output is what a process says.
type output struct {
	text bytes.Buffer
	// left is the number of lines after which it has said enough.
	left   int
	enough chan struct{}
}

// Write keeps a text.
func (o *output) Write(text []byte) (int, error) {
	before := o.left
	o.left -= bytes.Count(text, []byte("\n"))
	if before > 0 && o.left <= 0 {
		close(o.enough)
	}
	return o.text.Write(text)
}

// start starts the process.
func (c *crashTrial) start() *writingProcess {
	c.Helper()
	text, err := json.Marshal(c.order)
	require.NoError(c, err)
	process := &writingProcess{
		Cmd:       exec.CommandContext(c.Context(), os.Args[0]),
		said:      &output{left: 1 + rand.IntN(100), enough: make(chan struct{})},
		complaint: new(bytes.Buffer),
		ended:     make(chan struct{}),
	}
	process.Env = append(os.Environ(), crashEnv+"="+string(text))
	process.Stdout, process.Stderr = process.said, process.complaint
	require.NoError(c, process.Start())
	go func() {
		_ = process.Wait() // It is killed, which is an error.
		close(process.ended)
	}()
	return process
}

// awaitAnswers waits until the process said of some writes that they were answered, or is at its end.
func (p *writingProcess) awaitAnswers() {
	select {
	case <-p.said.enough:
	case <-p.ended:
	}
}

// kill kills the process, and returns the writes that it said were answered.
func (c *crashTrial) kill(process *writingProcess) []answer {
	c.Helper()
	killed := process.Process.Kill()
	<-process.ended
	for line := range strings.Lines(process.complaint.String()) {
		require.Contains(c, line, "the newest commit of the store did not hold", "the kill before interrupted a commit, and nothing else")
	}
	require.NoError(c, killed)

	var answers []answer
	for line := range bytes.Lines(process.said.text.Bytes()) {
		var writer, number int
		var changed bool
		_, err := fmt.Sscanln(string(line), &writer, &number, &changed)
		require.NoError(c, err, "%q", line)
		require.Equal(c, c.order.Next[writer], number, "the writes of one writer come one after the other")
		c.order.Next[writer]++
		answers = append(answers, answer{write: writeOf(writer, number), changed: changed})
	}
	c.answered += len(answers)
	return answers
}
