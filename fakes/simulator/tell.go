package simulator

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/record"
)

// mostTold is how many entries of a data source, messages of the outbox and choices are told at most, the
// newest ones.
const mostTold = 200

// world tells what there is to see of a branch.
func (s *session) world(ctx context.Context, id string) (world, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.branchOf(id)
	if err != nil {
		return world{}, err
	}
	w := world{
		Instance: s.instance, Revision: s.revision, Busy: s.busy, Bot: s.settings.Bot,
		Branch: b.id, Branches: s.toldBranches(), Now: b.platform.Now().UTC(), Current: b.at, Moments: b.toldMoments(),
		Operations: botctx.Ops(), Codes: boterr.Codes(), Platforms: channel.Types(), Groups: groupTypes(), FileTypes: fileTypes(),
		Accounts: []string{},
		Log:      b.toldLog(), Loads: s.loads, Stale: page.ProblemOf(s.stale), Faults: b.toldFaults(), Transcript: b.platform.Transcript(),
	}
	for _, one := range services {
		w.Services = append(w.Services, one.String())
	}
	for _, one := range s.settings.Accounts {
		w.Accounts = append(w.Accounts, one.Name())
	}
	w.Problem = page.ProblemOf(guarded(func() error { return b.tell(ctx, &w, s.settings) }))
	return w, nil
}

func (s *session) toldBranches() (told []shownBranch) {
	for _, b := range s.branches {
		told = append(told, shownBranch{ID: b.id, Name: b.name, Moments: len(b.moments)})
	}
	return told
}

func (b *branch) toldMoments() (told []shownMoment) {
	for i, m := range b.moments {
		one := shownMoment{Number: i, At: m.at.UTC(), What: m.what, IsKept: m.snapshot != nil, Error: page.ProblemOf(m.err)}
		if m.by != nil {
			one.By = m.by.id
		}
		told = append(told, one)
	}
	return told
}

func (b *branch) toldFaults() shownFaults {
	return shownFaults{Planned: orNone(b.platform.Planned()), Out: orNone(b.now().out), IsDown: b.now().isDown}
}

// tell tells what is on the platform, whatever is out of service: ctx is one of fakes.Observing. What cannot be
// read, as from a store of the host's own that fails, is an error, and the rest is told.
func (b *branch) tell(ctx context.Context, w *world, settings Simulator) error {
	b.tellPeople(ctx, w)
	b.tellOutbox(w)
	b.tellServices(w, settings) //nolint:contextcheck // The platform takes none: nothing in it waits.
	w.Graph = b.platform.Runtime().Graph()
	w.Choices = b.toldChoices() //nolint:contextcheck // As above.
	return b.tellRecords(ctx, w)
}

// scopes returns the scopes of the apps of the members.
func (b *branch) scopes() (found []record.Scope) {
	for _, p := range b.people() {
		if p.isAgent() {
			continue
		}
		app := record.Scope{App: p.actor.Scope().App}
		if !slices.Contains(found, app) {
			found = append(found, app)
		}
	}
	return found
}

// orNone returns a list that is not nil, so that its JSON is none.
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// newest returns the last of a list.
func newest[T any](list []T) []T { return list[max(0, len(list)-mostTold):] }
