package conversation

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Session plays conversations between people and a bot on a platform in memory, and keeps their actions and the
// results. Only one goroutine at a time may use it.
type Session struct {
	platform *fakes.Platform
	people   []*person
	cast     cast
	done     []done
	// line is the line of the current step.
	line int
	// isOpen is true if an unknown speaker is added as a member.
	isOpen bool
}

// person is a person of the conversation: a member, or an agent.
type person struct {
	name  string
	actor *fakes.Actor
	agent *fakes.Agent
	// heard counts the earlier messages.
	heard int
}

func (p *person) messages() []send.Response {
	if p.agent != nil {
		return p.agent.Messages()
	}
	return p.actor.Messages()
}

// done is a step that was carried out, with the details that a Go test needs.
type done struct {
	step Step
	// err is the failure of the act.
	err error
	// heard are the resulting messages, including TYPING.
	heard []heard
	// by is the current or last actor, or nil if there is none. silent is the number of the actor's messages if
	// no new one came, -1 otherwise.
	by     *person
	silent int
	// tapped is the tapped choice, if Actor.TapsOn would not select it.
	tapped *fakes.Tappable
	// person is the added person, or nil if the step adds none.
	person *person
	// isUnwritten is true if no line of a file adds the person.
	isUnwritten bool
}

// heard is a message to a person, by its index among the person's messages.
type heard struct {
	by        *person
	index, of int
	response  send.Response
}

// NewSession returns a session on a platform, without people.
func NewSession(p *fakes.Platform) *Session { return &Session{platform: p} }

// Platform returns the platform.
func (s *Session) Platform() *fakes.Platform { return s.platform }

// Add adds a member of the platform to the conversation, and returns the member's name in it: the first name,
// or the id, with a number if the name is taken. It panics if actor is nil.
func (s *Session) Add(actor *fakes.Actor) string {
	if actor == nil {
		panic(usagef("Add: the actor is nil: give a member, such as one from AddMember"))
	}
	added := actor.Added()
	name := s.free(cmp.Or(added.FirstName, actor.ID()))
	s.add(AddMember{Name: name, Member: added}, &person{name: name, actor: actor})
	return name
}

// AddAgent adds an agent of the platform to the conversation, and returns the agent's name in it. It panics if agent is
// nil.
func (s *Session) AddAgent(agent *fakes.Agent) string {
	if agent == nil {
		panic(usagef("AddAgent: the agent is nil: give one from AddAgent of the platform"))
	}
	name := s.free(agent.Name())
	s.add(AddAgent{Name: name, Channel: agent.Channel(), Groups: agent.Groups()}, &person{name: name, agent: agent})
	return name
}

func (s *Session) free(name string) string {
	found := name
	for i := 2; s.person(found) != nil; i++ {
		found = name + " " + strconv.Itoa(i)
	}
	return found
}

func (s *Session) add(act Act, added *person) {
	s.join(added)
	s.cast.acts(act)
	s.done = append(s.done, done{step: Step{Act: act}, person: added, silent: -1})
}

// join adds a person; earlier messages do not count as new to them.
func (s *Session) join(added *person) {
	added.heard = len(added.messages())
	s.people = append(s.people, added)
}

// person returns the person with a name, or nil.
func (s *Session) person(name string) *person {
	i := slices.IndexFunc(s.people, func(p *person) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return s.people[i]
}

// Names returns the names of the people, in the order in which they were added.
func (s *Session) Names() []string {
	names := make([]string, len(s.people))
	for i, p := range s.people {
		names[i] = p.name
	}
	return names
}

// Actor returns the member with a name, or nil.
func (s *Session) Actor(name string) *fakes.Actor {
	if found := s.person(name); found != nil {
		return found.actor
	}
	return nil
}

// Agent returns the agent with a name, or nil.
func (s *Session) Agent(name string) *fakes.Agent {
	if found := s.person(name); found != nil {
		return found.agent
	}
	return nil
}

// Conversation returns the actions of the session so far, and their results.
func (s *Session) Conversation() Conversation {
	var c Conversation
	for _, one := range s.needed() {
		if !one.isUnwritten {
			c.Steps = append(c.Steps, one.step)
		}
	}
	return c
}

// In returns a copy of the session that continues on a fork of the platform.
func (s *Session) In(fork *fakes.Platform) *Session {
	other := &Session{platform: fork, cast: s.cast, isOpen: s.isOpen}
	forked := map[*person]*person{}
	for _, p := range s.people {
		forked[p] = p.in(fork)
		other.people = append(other.people, forked[p])
	}
	for _, one := range s.done {
		one.person, one.by = forked[one.person], forked[one.by]
		one.heard = slices.Clone(one.heard)
		for i := range one.heard {
			one.heard[i].by = forked[one.heard[i].by]
		}
		other.done = append(other.done, one)
	}
	return other
}

func (p *person) in(fork *fakes.Platform) *person {
	other := *p
	if p.actor != nil {
		other.actor = p.actor.In(fork)
	}
	if p.agent != nil {
		other.agent = p.agent.In(fork)
	}
	return &other
}

// UsageError is an error in a conversation itself: an action in it is impossible. It does not come from the
// bot.
type UsageError struct{ text string }

// Error returns the problem and the remedy.
func (m *UsageError) Error() string { return m.text }

// Unwrap returns boterr.InvalidArgument.
func (m *UsageError) Unwrap() error { return boterr.InvalidArgument }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Do carries out an act, and returns it with its results. The error either comes from a run of the bot, and
// is the step's Failure, or is a UsageError: then nothing was done, and nothing is recorded.
func (s *Session) Do(act Act) (Step, error) {
	if absent.Is(act) {
		return Step{}, usagef("the act is missing: give one, such as Says")
	}
	if err := s.meet(cmp.Or(act.by(), refusedPerson(act))); err != nil {
		return Step{}, err
	}
	tapped, err := tappedBy(act, s)
	if err != nil {
		return Step{}, err
	}
	people := len(s.people)
	err = guarded(func() error { return act.do(s) })
	if mistake, isMistake := errors.AsType[*UsageError](err); isMistake {
		return Step{}, mistake
	}
	s.cast.acts(act)
	now := done{step: Step{Act: act}, err: err, heard: s.hear(), by: s.person(s.cast.speaker), silent: -1, tapped: tapped}
	if len(s.people) > people {
		now.person = s.people[people]
	}
	now.tell()
	s.done = append(s.done, now)
	return now.step, err
}

// tappedBy returns the choice that a Taps act selects. It returns nil for other acts, and if the title alone
// identifies the choice, so that Actor.TapsOn would select it.
func tappedBy(act Act, on *Session) (*fakes.Tappable, error) {
	taps, isTap := act.(Taps)
	if !isTap {
		return nil, nil
	}
	one, err := taps.tappable(on)
	if err != nil {
		return nil, err
	}
	isLikeIt := func(other fakes.Tappable) bool { return other.Title == one.Title && other.MessageID == one.MessageID }
	among := slices.DeleteFunc(on.Actor(taps.By).Tappables(), func(other fakes.Tappable) bool { return !isLikeIt(other) })
	if taps.Which <= 1 && len(among) == 1 {
		return nil, nil
	}
	return &one, nil
}

// needed returns the actions, without unused desks.
func (s *Session) needed() []done {
	if slices.ContainsFunc(s.platform.Calls(), isOfLiveChat) {
		return s.done
	}
	isNeeded := func(desk AddDesk) bool {
		return slices.ContainsFunc(s.done, func(one done) bool {
			agent, isAgent := one.step.Act.(AddAgent)
			return isAgent && agent.Channel == desk.ID
		})
	}
	return slices.DeleteFunc(slices.Clone(s.done), func(one done) bool {
		desk, isDesk := one.step.Act.(AddDesk)
		return isDesk && !isNeeded(desk)
	})
}

// isOfLiveChat reports whether a call is a live chat operation, which needs a desk.
func isOfLiveChat(made fakes.Call) bool {
	return reflect.TypeOf(made.Params).PkgPath() == reflect.TypeFor[livechat.State]().PkgPath()
}

// meet adds an unknown actor as a member if the session is open, and otherwise returns an error.
func (s *Session) meet(name string) error {
	if name == "" || s.person(name) != nil {
		return nil
	}
	if !s.isOpen {
		hint := ""
		if near := nearest.To(name, s.Names()); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return usagef("there is no person %s: a line such as \"member %s\" adds a member%s", name, nameOf(name), hint)
	}
	if _, err := s.Do(AddMember{Name: name}); err != nil {
		return err
	}
	s.done[len(s.done)-1].isUnwritten = true
	return nil
}

// named returns the member with a first name.
func (a AddMember) named() member.Member {
	if a.Member.FirstName == "" && a.Member.ID == "" {
		a.Member.FirstName = a.Name
	}
	return a.Member
}

// hear returns each person's new messages: the actor's first, then the others in the order in which people
// were added.
func (s *Session) hear() []heard {
	var first, others []heard
	for _, p := range s.people {
		messages := p.messages()
		for i := p.heard; i < len(messages); i++ {
			one := heard{by: p, index: i, response: messages[i], of: len(messages)}
			if p.name == s.cast.speaker {
				first = append(first, one)
			} else {
				others = append(others, one)
			}
		}
		p.heard = len(messages)
	}
	return append(first, others...)
}

// tell fills in the results of the step.
func (d *done) tell() {
	d.step.Failure = failureOf(d.err)
	_, isWaiting := d.step.Act.(Waits)
	isSilent := d.by != nil && d.err == nil && (isWaiting || d.step.Act.by() != "")
	for _, one := range d.heard {
		isSilent = isSilent && one.by != d.by
		if one.response.Type() != send.TypeTyping {
			d.step.Answers = append(d.step.Answers, Answer{To: one.by.name, Message: render.Of(one.response)})
		}
	}
	if isSilent {
		d.silent = d.by.heard
	}
}

func failureOf(err error) Failure {
	if err == nil {
		return Failure{}
	}
	coded, isCoded := errors.AsType[*boterr.Error](err)
	joined, isJoined := err.(interface{ Unwrap() []error })
	isSeveral := isJoined && len(joined.Unwrap()) > 1 // With several errors, the code of one means little.
	if isCoded && !isSeveral && slices.Contains(boterr.Codes(), coded.Code) {
		return Failure{Fails: true, Code: coded.Code}
	}
	return Failure{Fails: true}
}

// guarded calls a function that may panic: a misused platform panics without a test.
func guarded(do func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("%v", panicked)
		}
	}()
	return do()
}
