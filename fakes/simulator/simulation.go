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
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/session"
)

const mostBranches = 20

// mainBranch is the id of the first branch.
const mainBranch = "main"

// simulation is the state that all open pages show.
type simulation struct {
	settings Simulator
	// instance distinguishes sessions at the same address.
	instance string
	// turn is held during an action: a platform is only copied while no action is in progress.
	turn chan struct{}

	mu       sync.Mutex
	branches []*branch
	forks    int
	// revision counts the changes. changed is closed at the next one.
	revision int64
	changed  chan struct{}
	// busy describes the action in progress, or "" for none.
	busy string
	// loads counts how often Simulator.Reload has returned new nodes. stale is the error of the newest nodes, or nil
	// for none.
	loads int
	stale error
}

// newSimulation prepares the platform, with its members and agents.
func newSimulation(s Simulator, nodes []*botctx.Node) (*simulation, error) {
	opened := &simulation{
		settings: s, instance: rand.Text(), turn: make(chan struct{}, 1), revision: 1, changed: make(chan struct{}),
	}
	held, err := session.New(session.Config{
		Platform: s.Platform, Members: s.Members, Agents: s.Agents, Nodes: nodes, HasNodes: s.Reload != nil, Test: s.Test,
	})
	if err == nil && held.IsOwn() {
		_, err = held.Stage.Do(conversation.AddAgent{Name: session.Agent, Channel: session.Desk})
	}
	if err != nil {
		return nil, err
	}
	first := &branch{Session: held, id: mainBranch, name: mainBranch}
	first.moments = []moment{moment{what: "The beginning"}.kept(first)}
	opened.branches = []*branch{first}
	opened.look()
	return opened, opened.stale
}

// branchOf returns the branch with an id, or the first branch for "". The caller holds the mutex.
func (s *simulation) branchOf(id string) (*branch, error) {
	if id == "" {
		id = s.branches[0].id
	}
	i := slices.IndexFunc(s.branches, func(b *branch) bool { return b.id == id })
	if i < 0 {
		return nil, boterr.New(boterr.NotFound, "branch", "is %q: there is no such branch, or it has been closed", id)
	}
	return s.branches[i], nil
}

// change calls do under the mutex, and announces the change.
func (s *simulation) change(do func() error) error {
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

// state returns the revision, and a channel that is closed at the next one.
func (s *simulation) state() (revision int64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, s.changed
}

// takeTurn waits until no action is in progress, or the request ends.
func (s *simulation) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return boterr.New(boterr.Conflict, "", "another action is in progress: the bot has not answered yet")
	}
}

func (s *simulation) giveTurn() { <-s.turn }

// begin marks an action as in progress in a branch, which it returns.
func (s *simulation) begin(id, what string) (found *branch, err error) {
	err = s.change(func() error {
		if found, err = s.branchOf(id); err == nil {
			s.busy = what
		}
		return err
	})
	return found, err
}

// play carries out an action in a branch, and adds the result to its moments. An action that the platform
// refuses as a misuse leaves no moment.
func (s *simulation) play(on *branch, do func(b *branch) (moment, error)) error {
	before := on.now()
	var made moment
	refused := session.Guarded(func() error {
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

// end ends the action in progress, with its result.
func (s *simulation) end(note func()) {
	_ = s.change(func() error {
		s.busy = ""
		note()
		return nil
	})
}

// fork adds a branch that continues from a moment of another one, and returns its id.
func (s *simulation) fork(from *branch, name string, n int) (string, error) {
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
			s.settings.OnFork(forked.Platform())
		}
		s.branches = append(s.branches, forked)
		return nil
	})
	return id, err
}

// close removes a branch, and returns the id of one that stays.
func (s *simulation) close(id string) (stays string, err error) {
	err = s.change(func() error {
		found, err := s.branchOf(id)
		switch {
		case err != nil:
			return err
		case len(s.branches) == 1:
			return boterr.New(boterr.FailedPrecondition, "", "the only branch cannot be closed: fork it first")
		}
		s.branches = slices.DeleteFunc(slices.Clone(s.branches), func(b *branch) bool { return b == found })
		stays = s.branches[0].id
		return nil
	})
	return stays, err
}

// The forms in which actions are saved.
const (
	formGo           = "go"
	formConversation = "text"
)

// saved returns the actions of a branch, up to the shown moment, as a Go test or as a conversation file.
func (s *simulation) saved(id, form string) (string, error) {
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
		return "", boterr.New(boterr.Conflict, "", "an action is in progress: try again when the bot has answered")
	case form == formConversation:
		return b.Stage.Conversation().String(), nil
	case form == formGo:
		return b.Stage.GoTest(b.Test())
	default:
		return "", boterr.Invalid("form", "is %q: give %q or %q", form, formGo, formConversation)
	}
}

// checkSaved refuses actions that no conversation can repeat.
func (b *branch) checkSaved() error {
	var unsaved []string
	for number, m := range b.past() {
		if m.isUnsaved {
			unsaved = append(unsaved, fmt.Sprintf("step %d (%s)", number, m.what))
		}
	}
	if len(unsaved) > 0 {
		return boterr.New(boterr.Unsupported, "", "a saved conversation cannot repeat %s. "+
			"Go back and leave it out, or do so in a fork", strings.Join(unsaved, ", "))
	}
	if planned := b.Platform().Unmet(); len(planned) > 0 {
		return boterr.New(boterr.FailedPrecondition, "", "a planned fault has not happened yet, and the test would fail: %s. "+
			"Let it happen, or go back to before it", planned[0])
	}
	return nil
}

// answerSaved answers with the actions as a file.
func (s *simulation) answerSaved(w http.ResponseWriter, r *http.Request) {
	text, err := s.saved(r.FormValue("branch"), r.FormValue("form"))
	if err != nil {
		page.Fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) // A client that is gone needs no answer.
}
