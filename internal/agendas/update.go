package agendas

import (
	"cmp"
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
)

// UpdateAgenda implements Operations.
func (s *Service) UpdateAgenda(ctx context.Context, p agenda.UpdateAgendaParams) (agenda.UpdateAgendaResult, error) {
	u, err := s.newUpdate(ctx, p)
	if err != nil {
		return agenda.UpdateAgendaResult{}, err
	}
	// Agendas that were open when they were read may have ended since. Where all of them have, the
	// update reads again which are open, at most so many times.
	const tries = 8
	for range tries {
		open, err := u.open(ctx)
		if err != nil {
			return agenda.UpdateAgendaResult{}, err
		}
		if len(open) == 0 {
			return emptyUpdate(), nil
		}
		written, err := u.write(ctx, open)
		if err != nil {
			return agenda.UpdateAgendaResult{}, err
		}
		if written.Matched > 0 {
			return u.result(context.WithoutCancel(ctx), open, written) // The change is made.
		}
	}
	return agenda.UpdateAgendaResult{}, boterr.New(boterr.Conflict, "", "the member's agendas change all the time: try again")
}

// update is one call of UpdateAgenda.
type update struct {
	service *Service
	params  agenda.UpdateAgendaParams
	// given is the schedule as the call gives it, planned the same one with its next run filled in.
	given, planned schedule
}

// newUpdate checks the parameters, as far as they do not depend on the agendas that are stored.
func (s *Service) newUpdate(ctx context.Context, p agenda.UpdateAgendaParams) (*update, error) {
	given := schedule{next: p.NextRunAt, pattern: p.Pattern, until: p.RunUntil}
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	switch {
	case p.Replace && p.Tag == "":
		return nil, missingTag()
	case p.Meta.Err() != nil:
		return nil, boterr.PrefixField("meta", p.Meta.Err())
	}
	if err := given.checkGiven(); err != nil {
		return nil, err
	}
	planned, err := s.planUpdate(ctx, p.MemberID, given)
	if err != nil {
		return nil, err
	}
	return &update{service: s, params: p, given: given, planned: planned}, planned.checkEnd(given)
}

// planUpdate is plan for a member who may be unknown: the agendas of one who was removed can still be
// changed, and none of them runs.
func (s *Service) planUpdate(ctx context.Context, memberID string, given schedule) (schedule, error) {
	if !s.asksZone(given) {
		return s.planIn("", given)
	}
	m, err := members.Load(ctx, s.ports.Members, members.ByRequiredID(memberID))
	switch {
	case boterr.CodeOf(err) == boterr.NotFound:
		return s.planIn("", given)
	case err != nil:
		return given, err
	default:
		return s.plan(ctx, m, given)
	}
}

// open returns the agendas that the update is about, in the order in which they were
// made. With Replace that is one, the newest, which takes the place of the others.
func (u *update) open(ctx context.Context) ([]*agenda.Record, error) {
	found, err := u.agendas().Find(ctx, record.Query{Filter: openFilter(u.params.Tag)})
	if err != nil {
		return nil, err
	}
	if u.params.Replace && len(found) > 1 {
		found = found[len(found)-1:]
	}
	open := make([]*agenda.Record, len(found))
	for i, o := range found {
		if open[i], err = fromDocument(o); err != nil {
			return nil, err
		}
		if err := u.check(open[i]); err != nil {
			return nil, err
		}
	}
	return open, nil
}

func (u *update) agendas() *record.Collection {
	return u.service.ofMember(u.params.MemberID, u.params.Tag)
}

// check refuses an update that an agenda cannot have, because of what it keeps of its
// own schedule.
func (u *update) check(r *agenda.Record) error {
	if u.given == (schedule{}) {
		return nil
	}
	after := schedule{
		next:    cmp.Or(u.planned.next, r.NextRunAt),
		pattern: cmp.Or(u.given.pattern, r.Pattern),
		until:   cmp.Or(u.given.until, r.RunUntil),
	}
	err := after.check(u.given)
	if e, ok := boterr.AsError(err); ok {
		return boterr.New(e.Code, e.Field, "agenda %s: %s", r.ID, e.Message())
	}
	return err
}
