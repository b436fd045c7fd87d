package simulator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/send"
)

// mostSnapshots bounds the newest moments of a branch that one can go back to.
const mostSnapshots = 200

// branch is one course of things: a platform, and what was done on it. All but the platform is guarded by
// the session.
type branch struct {
	id, name string
	platform *fakes.Platform
	// stage carries out everything that a conversation can repeat.
	stage *conversation.Session
	// moments are the actions, the first one the beginning. at is the one that is shown: later ones stay
	// until the next action.
	moments []moment
	at      int
}

// moment is an action, and the state after it.
type moment struct {
	// what describes the action, for a timeline, by is the actor, nil if there is none, and at the time when
	// it was over.
	what string
	by   *person
	at   time.Time
	// said is a person's text or tap, zero for none.
	said said
	// sent and chosen count the messages and choices afterwards.
	sent, chosen int
	// err is its failure, logged the lines that were logged meanwhile.
	err    error
	logged []logLine
	// people are the people afterwards.
	people []*person
	// channels are those that were added on the page.
	channels []string
	// out lists the services that were out of service, isDown is true if the process of the bot was down,
	// isStart if it was started.
	out             []string
	isDown, isStart bool
	// isUnsaved is true if no conversation can repeat it.
	isUnsaved bool
	// stage is the conversation after the moment, or nil if it cannot be restored.
	stage *conversation.Session
	// snapshot is the platform after the moment, or nil if it cannot be restored.
	snapshot *fakes.Snapshot
}

func (b *branch) now() moment { return b.moments[b.at] }

func (b *branch) people() []*person { return b.now().people }

// past returns the moments up to the one that is shown.
func (b *branch) past() []moment { return b.moments[:b.at+1] }

func (b *branch) personOf(id string) (*person, error) {
	people := b.people()
	i := slices.IndexFunc(people, func(p *person) bool { return p.id == id })
	if i < 0 {
		return nil, boterr.New(boterr.NotFound, "person", "is %q, and there is no such person", id)
	}
	return people[i], nil
}

// add adds a moment, in the place of those that came later.
func (b *branch) add(m moment) {
	b.moments = append(slices.Clone(b.past()), m)
	b.at = len(b.moments) - 1
	if old := len(b.moments) - 1 - mostSnapshots; old >= 0 {
		b.moments[old].snapshot, b.moments[old].stage = nil, nil
	}
}

// momentOf returns a moment that one can go back to.
func (b *branch) momentOf(n int) (moment, error) {
	if n < 0 || n >= len(b.moments) {
		return moment{}, boterr.Invalid("moment", "is %d: the moments are 0 to %d", n, len(b.moments)-1)
	}
	if b.moments[n].snapshot == nil {
		return moment{}, boterr.New(boterr.Unsupported, "moment", "is %d, of which nothing is kept: the newest %d moments are, "+
			"where the platform keeps its records itself", n, mostSnapshots)
	}
	return b.moments[n], nil
}

// fork returns a branch that goes on from a moment of this one.
func (b *branch) fork(id, name string, n int) (*branch, error) {
	from, err := b.momentOf(n)
	if err != nil {
		return nil, err
	}
	forked := &branch{id: id, name: name, moments: slices.Clone(b.moments[:n+1]), at: n}
	return forked, guarded(func() error {
		forked.platform = b.platform.Fork()
		forked.platform.Restore(from.snapshot)
		forked.stage = from.stage.In(forked.platform)
		return nil
	})
}

// goTo shows a moment.
func (b *branch) goTo(n int) error {
	to, err := b.momentOf(n)
	if err != nil {
		return err
	}
	if err := guarded(func() error { b.platform.Restore(to.snapshot); return nil }); err != nil {
		return err
	}
	b.at, b.stage = n, to.stage.In(b.platform)
	return nil
}

// said is a person's text or tap.
type said struct {
	text string
	// isTap is true if the text is the title of a tapped choice.
	isTap bool
	// file is the type of what was sent, "" for a text or a tap; url is the address of a file.
	file send.Type
	url  string
}

func (s said) isZero() bool { return s == said{} }

// after returns the moment with what it has not changed since another one.
func (m moment) after(before moment) moment {
	if m.people == nil {
		m.people = before.people
	}
	if m.channels == nil {
		m.channels = before.channels
	}
	if m.out == nil {
		m.out = before.out
	}
	m.isDown = m.isDown || errors.Is(m.err, fakes.ErrCrashed) || before.isDown && !m.isStart
	return m
}

// undo puts the branch back to what it was, as far as its platform can be copied.
func (b *branch) undo(to moment) {
	if to.snapshot == nil {
		return
	}
	_ = guarded(func() error { b.platform.Restore(to.snapshot); return nil })
	b.stage = to.stage.In(b.platform)
}

// does lets happen what a conversation can do again, as a moment. What is a mistake did not happen.
func (b *branch) does(act conversation.Act, m moment) (moment, error) {
	_, err := b.stage.Do(act)
	if mistake, isMistake := errors.AsType[*conversation.UsageError](err); isMistake {
		return moment{}, mistake
	}
	m.err = err
	return m, nil
}

func (m moment) kept(b *branch) moment {
	p := b.platform
	m.at, m.sent, m.chosen = p.Now(), len(p.Sent()), len(p.Choices())
	if m.snapshot = snapshotOf(p); m.snapshot != nil {
		m.stage = b.stage.In(p)
	}
	return m
}

// snapshotOf returns a platform as it is, nil for one that cannot be copied.
func snapshotOf(p *fakes.Platform) *fakes.Snapshot {
	var made *fakes.Snapshot
	if err := guarded(func() error { made = p.Snapshot(); return nil }); err != nil {
		return nil
	}
	return made
}

// plural returns a number with a word, in the plural if it is not one.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
