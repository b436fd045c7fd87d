package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/page"
)

// act is what a page asks for: the body of a POST to "act".
type act struct {
	// Branch is the id of the branch in which it is done. The default is the first one.
	Branch string `json:"branch,omitempty"`
	// Do names what is done, such as "say".
	Do string `json:"do"`
	// With is what it is done with, by the names of its fields.
	With json.RawMessage `json:"with,omitempty"`
}

// outcome is the answer to an Act that was done.
type outcome struct {
	// Revision is that of the World afterwards, Branch the id of the branch to be shown then.
	Revision int64  `json:"revision"`
	Branch   string `json:"branch"`
	// Error is what came of it where the bot failed, nil otherwise: it was done all the same.
	Error *page.Problem `json:"error,omitempty"`
}

// play is something that is done on a platform: it makes a moment. It panics, as the platform does,
// or returns an error, where it is refused.
type play func(b *branch) (moment, error)

// reader reads the fields of something that is done.
type reader func(with json.RawMessage) (play, error)

// plays returns what can be done on a platform, by name, each read from its fields.
func plays() map[string]reader {
	all := map[string]reader{}
	for _, some := range []map[string]reader{
		talkPlays(), deskPlays(), timePlays(), faultPlays(), servicePlays(), outagePlays(), processPlays(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// of returns what reads the fields of something that is done.
func of[With any](do func(b *branch, with With) (moment, error)) reader {
	return func(raw json.RawMessage) (play, error) {
		var with With
		if len(raw) == 0 {
			raw = json.RawMessage("{}")
		}
		if err := page.Decode(bytes.NewReader(raw), &with); err != nil {
			return nil, boterr.PrefixField("with", err)
		}
		return func(b *branch) (moment, error) { return do(b, with) }, nil
	}
}

// moves returns the names of what is done with branches.
func moves() []string { return []string{"fork", "go", "close"} }

// move moves a branch as a name says. It makes no moment, and returns the id of the branch to be shown.
func (s *session) move(name string, b *branch, m move) (string, error) {
	switch name {
	case "fork":
		return s.fork(b, strings.TrimSpace(m.Name), m.Moment)
	case "go":
		return b.id, s.change(func() error { return b.goTo(m.Moment) })
	default:
		return s.close(b.id)
	}
}

// move is what branches are moved with.
type move struct {
	// Moment is the number of a moment, Name what a fork is called.
	Moment int    `json:"moment"`
	Name   string `json:"name"`
}

// act does what a page asks for.
func (s *session) act(ctx context.Context, asked act) (outcome, error) {
	if slices.Contains(moves(), asked.Do) {
		return s.actMove(ctx, asked)
	}
	read, isKnown := plays()[asked.Do]
	if !isKnown {
		return outcome{}, unknown(asked.Do, slices.Concat(slices.Collect(maps.Keys(plays())), moves()))
	}
	do, err := read(asked.With)
	if err != nil {
		return outcome{}, err
	}
	if err := s.takeTurn(ctx); err != nil {
		return outcome{}, err
	}
	defer s.giveTurn()
	s.look()
	on, err := s.begin(asked.Branch, asked.Do)
	if err != nil {
		return outcome{}, err
	}
	if err := s.play(on, do); err != nil { //nolint:contextcheck // A platform in memory takes none: nothing in it waits.
		return outcome{}, err
	}
	revision, _ := s.state()
	return outcome{Revision: revision, Branch: on.id, Error: page.ProblemOf(on.now().err)}, nil
}

// actMove does what is done with branches.
func (s *session) actMove(ctx context.Context, asked act) (outcome, error) {
	var with move
	if len(asked.With) > 0 {
		if err := page.Decode(bytes.NewReader(asked.With), &with); err != nil {
			return outcome{}, boterr.PrefixField("with", err)
		}
	}
	if err := s.takeTurn(ctx); err != nil {
		return outcome{}, err
	}
	defer s.giveTurn()
	on, err := s.find(asked.Branch)
	if err != nil {
		return outcome{}, err
	}
	shown, err := s.move(asked.Do, on, with) //nolint:contextcheck // As play.
	revision, _ := s.state()
	return outcome{Revision: revision, Branch: shown}, err
}

// find is branchOf for who does not hold the mutex.
func (s *session) find(id string) (*branch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.branchOf(id)
}

// unknown is the error for what cannot be done.
func unknown(name string, among []string) error {
	slices.Sort(among)
	hint := "there are " + strings.Join(among, ", ")
	if near := nearest.To(name, among); near != "" {
		hint = "perhaps " + near + " is meant"
	}
	return boterr.Invalid("do", "is %q, which is nothing that can be done: %s", name, hint)
}
