package console

import "github.com/botctx/go-sdk/fakes"

func (s *session) memberNames() []string { return s.names(isMember) }

func (s *session) agentNames() []string { return s.names(isAgent) }

// names returns the names of those whom a condition fits.
func (s *session) names(fits func(*person) bool) []string {
	var names []string
	for _, p := range s.people {
		if fits(p) {
			names = append(names, p.name)
		}
	}
	return names
}

// titles returns the titles of all that who speaks can tap.
func (s *session) titles() []string {
	if s.seat.actor == nil {
		return nil
	}
	return titlesOf(s.seat.actor.Tappables())
}

func titlesOf(offers []fakes.Tappable) []string {
	titles := make([]string, len(offers))
	for i, one := range offers {
		titles[i] = one.Title
	}
	return titles
}

func (s *session) sources() []string { return s.platform.DataSources() }
