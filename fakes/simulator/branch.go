package simulator

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/session"
	"github.com/botctx/go-sdk/send"
)

// mostSnapshots bounds the moments of a branch, counted from the newest, that the user can go back to.
const mostSnapshots = 200

// branch is one sequence of actions, and their platform. The simulation's mutex guards everything except the
// platform.
type branch struct {
	*session.Session

	id, name string
	// moments are the actions; the first is the beginning. at is the index of the shown moment; later moments
	// are kept until the next action.
	moments []moment
	at      int
}

// moment is an action, and the state after it.
type moment struct {
	// what describes the action, for a timeline. by is the actor, or nil if there is none. at is the time at which
	// the action ended.
	what string
	by   *session.Person
	at   time.Time
	// said is a person's text or tap, or zero for none.
	said said
	// sent and chosen count the messages and choices afterwards.
	sent, chosen int
	// err is the failure of the action. logged are the lines logged during the action.
	err    error
	logged []logLine
	// channels are the channels added on the page.
	channels []string
	// isDown is true if the process of the bot was down, isStart if the action started it.
	isDown, isStart bool
	// isUnsaved is true if no conversation can repeat the moment.
	isUnsaved bool
	// place is the place after the moment.
	place session.Place
}

func (b *branch) now() moment { return b.moments[b.at] }

func (b *branch) people() []*session.Person { return b.now().place.People }

// past returns the moments up to the one that is shown.
func (b *branch) past() []moment { return b.moments[:b.at+1] }

func (b *branch) personOf(id string) (*session.Person, error) {
	people := b.people()
	i := slices.IndexFunc(people, func(p *session.Person) bool { return p.ID == id })
	if i < 0 {
		return nil, boterr.New(boterr.NotFound, "person", "is %q: there is no such person", id)
	}
	return people[i], nil
}

// add adds a moment, which replaces the later ones.
func (b *branch) add(m moment) {
	b.moments = append(slices.Clone(b.past()), m)
	b.at = len(b.moments) - 1
	if old := len(b.moments) - 1 - mostSnapshots; old >= 0 {
		b.moments[old].place = b.moments[old].place.Forget()
	}
}

// momentOf returns a moment that the user can go back to.
func (b *branch) momentOf(n int) (moment, error) {
	if n < 0 || n >= len(b.moments) {
		return moment{}, boterr.Invalid("moment", "is %d: the moments are 0 to %d", n, len(b.moments)-1)
	}
	if !b.moments[n].place.IsKept() {
		return moment{}, boterr.New(boterr.Unsupported, "moment", "is %d, which is not kept: only the newest %d moments are, "+
			"and only if the platform has its default store", n, mostSnapshots)
	}
	return b.moments[n], nil
}

// fork returns a branch that continues from a moment of this one.
func (b *branch) fork(id, name string, n int) (*branch, error) {
	from, err := b.momentOf(n)
	if err != nil {
		return nil, err
	}
	forked, err := b.Fork(from.place)
	return &branch{Session: forked, id: id, name: name, moments: slices.Clone(b.moments[:n+1]), at: n}, err
}

// goTo shows a moment.
func (b *branch) goTo(n int) error {
	to, err := b.momentOf(n)
	if err == nil {
		err = b.GoTo(to.place)
	}
	if err == nil {
		b.at = n
	}
	return err
}

// said is a person's text or tap.
type said struct {
	text string
	// isTap is true if the text is the title of a tapped choice.
	isTap bool
	// file is the type of the sent message, or "" for a text or a tap; url is the address of a file.
	file send.Type
	url  string
}

func (s said) isZero() bool { return s == said{} }

// after copies the fields that the moment leaves unset from the one before.
func (m moment) after(before moment) moment {
	if m.channels == nil {
		m.channels = before.channels
	}
	m.isDown = m.isDown || errors.Is(m.err, fakes.ErrCrashed) || before.isDown && !m.isStart
	return m
}

// undo restores the branch, if its platform can be copied.
func (b *branch) undo(to moment) {
	if to.place.IsKept() {
		_ = b.GoTo(to.place)
	}
}

// does carries out an act that a conversation can repeat, and returns its moment. A moment without a description
// gets the act's line in a conversation file. A mistake leaves no moment.
func (b *branch) does(act conversation.Act, m moment) (moment, error) {
	_, err := b.Stage.Do(act)
	if mistake, isMistake := errors.AsType[*conversation.UsageError](err); isMistake {
		return moment{}, mistake
	}
	m.err = err
	if m.what == "" {
		m.what = strings.TrimSpace(conversation.Conversation{Steps: []conversation.Step{{Act: act}}}.String())
	}
	return m, nil
}

func (m moment) kept(b *branch) moment {
	p := b.Platform()
	m.at, m.sent, m.chosen, m.place = p.Now(), len(p.Sent()), len(p.Choices()), b.Place()
	return m
}
