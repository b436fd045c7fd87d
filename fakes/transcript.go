package fakes

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// transcript is what happened on a platform, a line for each thing.
type transcript struct {
	mu    sync.Mutex
	lines []string
}

func (t *transcript) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

func (t *transcript) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}

func (t *transcript) set(lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = slices.Clone(lines)
}

// notef adds a line with the virtual time to the transcript.
func (p *Platform) notef(format string, args ...any) {
	const stamp = "2006-01-02 15:04:05.000  "
	p.transcript.add(p.Now().Format(stamp) + fmt.Sprintf(format, args...))
}

// Transcript returns what happened on the platform, a line for each thing that was
// said, sent, written, fetched or made to fail, each with its virtual time.
// Operations that only read are left out, unless they failed. Credentials are
// redacted. Where the same is done again, the transcript is the same again.
func (p *Platform) Transcript() string {
	var text strings.Builder
	for _, line := range p.transcript.all() {
		text.WriteString(boterr.Redact(line)) // Only here: most lines are never read.
		text.WriteByte('\n')
	}
	return text.String()
}
