package simulator

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/member"
)

// mostBranches bounds the number of branches.
const mostBranches = 20

// desk is the id of the simulator's own outlet channel.
const desk = "desk"

// mainBranch is the id of the first branch.
const mainBranch = "main"

// session is the state behind the pages.
type session struct {
	settings Simulator
	// isOwn is whether the platform and its desk are the simulator's own, hasNodes whether it was given
	// nodes.
	isOwn, hasNodes bool
	// instance tells one session from another at the same address.
	instance string
	// turn is held during an action: a platform is copied only while nothing is under way.
	turn chan struct{}

	mu       sync.Mutex
	branches []*branch
	forks    int
	// revision counts the changes. changed is closed at the next one.
	revision int64
	changed  chan struct{}
	// busy describes the action under way, "" for none.
	busy string
	// loads counts how often Simulator.Reload returned other nodes. stale is the error of the newest nodes,
	// nil for none.
	loads int
	stale error
}

// newSession prepares the platform, with its members and agents.
func newSession(s Simulator, nodes []*botctx.Node) (*session, error) {
	opened := &session{
		settings: s, isOwn: s.Platform == nil, hasNodes: len(nodes) > 0 || s.Reload != nil,
		instance: rand.Text(), turn: make(chan struct{}, 1), revision: 1, changed: make(chan struct{}),
	}
	first := &branch{id: mainBranch, name: mainBranch, platform: s.Platform}
	err := guarded(func() error {
		if opened.isOwn {
			first.platform = fakes.New()
		}
		first.platform.Handle(nodes...)
		first.stage = conversation.NewSession(first.platform)
		beginning := moment{what: "The beginning", people: opened.cast(first.stage)}
		first.moments = []moment{beginning.kept(first)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	opened.branches = []*branch{first}
	opened.look()
	return opened, opened.stale
}

// cast lets those take part who are there from the beginning.
func (s *session) cast(on *conversation.Session) []*person {
	var people []*person
	for _, actor := range s.settings.Members {
		people = append(people, ofActor(actor, on.Add(actor)))
	}
	if len(people) == 0 {
		ada := on.Platform().AddMember(member.Member{FirstName: "Ada"})
		people = append(people, ofActor(ada, on.Add(ada)))
	}
	if s.isOwn {
		mustDo(on, conversation.AddDesk{ID: desk})
		mustDo(on, conversation.AddAgent{Name: "Grace", Channel: desk})
		people = append(people, ofAgent(on.Agent("Grace"), "Grace"))
	}
	for _, agent := range s.settings.Agents {
		people = append(people, ofAgent(agent, on.AddAgent(agent)))
	}
	return people
}

// mustDo does what a new platform takes.
func mustDo(on *conversation.Session, act conversation.Act) {
	if _, err := on.Do(act); err != nil {
		panic(err)
	}
}

// branchOf returns the branch of an id, the first one for "". The caller holds the mutex.
func (s *session) branchOf(id string) (*branch, error) {
	if id == "" {
		id = s.branches[0].id
	}
	i := slices.IndexFunc(s.branches, func(b *branch) bool { return b.id == id })
	if i < 0 {
		return nil, boterr.New(boterr.NotFound, "branch", "is %q, which is not there, or not any more", id)
	}
	return s.branches[i], nil
}

// change lets something change under the mutex, and tells it.
func (s *session) change(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	s.revision++
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// state returns the revision, and what is closed when it is no longer that.
func (s *session) state() (revision int64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, s.changed
}

// takeTurn waits until nothing is under way, or the request ends.
func (s *session) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return boterr.New(boterr.Conflict, "", "something else is under way: the bot has not answered yet")
	}
}

func (s *session) giveTurn() { <-s.turn }

// begin notes that something is under way in a branch, which it returns.
func (s *session) begin(id, what string) (found *branch, err error) {
	err = s.change(func() error {
		found, err = s.branchOf(id)
		s.busy = what
		return err
	})
	return found, err
}

// play carries out an action in a branch, and adds the result to its moments. An action that the platform
// refuses as a misuse did not happen.
func (s *session) play(on *branch, do func(b *branch) (moment, error)) error {
	before := on.now()
	var made moment
	refused := guarded(func() error {
		var err error
		made, err = do(on)
		return err
	})
	if refused != nil {
		s.end(func() { on.undo(before) })
		return refused
	}
	made = made.after(before).kept(on)
	made.logged = s.settings.Log.take()
	s.end(func() { on.add(made) })
	return nil
}

// end notes that the action is over, with its result.
func (s *session) end(note func()) {
	_ = s.change(func() error {
		s.busy = ""
		note()
		return nil
	})
}

// fork adds a branch that goes on from a moment of another one, and returns its id.
func (s *session) fork(from *branch, name string, n int) (string, error) {
	var id string
	err := s.change(func() error {
		if len(s.branches) >= mostBranches {
			return boterr.New(boterr.ResourceExhausted, "", "there are %d branches: close one first", mostBranches)
		}
		s.forks++
		id = "fork-" + strconv.Itoa(s.forks)
		if name == "" {
			name = id
		}
		forked, err := from.fork(id, name, n)
		if err != nil {
			return err
		}
		if s.settings.OnFork != nil {
			s.settings.OnFork(forked.platform)
		}
		s.branches = append(s.branches, forked)
		return nil
	})
	return id, err
}

// close takes a branch away, and returns the id of one that stays.
func (s *session) close(id string) (stays string, err error) {
	err = s.change(func() error {
		found, err := s.branchOf(id)
		switch {
		case err != nil:
			return err
		case len(s.branches) == 1:
			return boterr.New(boterr.FailedPrecondition, "", "it is the only branch")
		}
		s.branches = slices.DeleteFunc(slices.Clone(s.branches), func(b *branch) bool { return b == found })
		stays = s.branches[0].id
		return nil
	})
	return stays, err
}

// The forms in which what was done is saved.
const (
	formGo           = "go"
	formConversation = "text"
)

// saved returns what was done in a branch, up to the moment that is shown, as a Go test or as a file of a
// conversation.
func (s *session) saved(id, form string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.branchOf(id)
	if err == nil {
		err = b.checkSaved()
	}
	switch {
	case err != nil:
		return "", err
	case s.busy != "":
		return "", boterr.New(boterr.Conflict, "", "something is under way: try again when the bot has answered")
	case form == formConversation:
		return b.stage.Conversation().String(), nil
	case form == formGo:
		return b.stage.GoTest(s.goTest())
	default:
		return "", boterr.Invalid("form", "is %q: give %q or %q", form, formGo, formConversation)
	}
}

func (s *session) goTest() conversation.GoTest {
	as := conversation.GoTest{Package: s.settings.Test.Package, Nodes: s.settings.Test.Nodes, Platform: s.settings.Test.Platform}
	if s.isOwn {
		as.Platform = ""
	} else if !s.hasNodes {
		as.Nodes = ""
	}
	return as
}

// checkSaved refuses what no conversation can do again.
func (b *branch) checkSaved() error {
	var unsaved []string
	for number, m := range b.past() {
		if m.isUnsaved {
			unsaved = append(unsaved, fmt.Sprintf("step %d (%s)", number, m.what))
		}
	}
	if len(unsaved) > 0 {
		return boterr.New(boterr.Unsupported, "", "a saved conversation has people, time, and faults of the next call: not %s. "+
			"Go back and do without, in a fork if both are to stay", strings.Join(unsaved, ", "))
	}
	if planned := b.platform.Unmet(); len(planned) > 0 {
		return boterr.New(boterr.FailedPrecondition, "", "a fault is still to come, and a test fails that does not meet it: %s. "+
			"Let it happen, or go back before it", planned[0])
	}
	return nil
}

// answerSaved answers with what was done, as a file.
func (s *session) answerSaved(w http.ResponseWriter, r *http.Request) {
	text, err := s.saved(r.FormValue("branch"), r.FormValue("form"))
	if err != nil {
		page.Fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) //nolint:gosec // It is no HTML, and a client that is gone needs no answer.
}
