package agendas

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/member"
)

// NewAgenda implements Operations.
func (s *Service) NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error) {
	given, err := scheduleOf(&p)
	if err != nil {
		return nil, err
	}
	m, err := members.Load(ctx, s.ports.Members, members.ByRequiredID(p.MemberID))
	if err != nil {
		return nil, err
	}
	planned, err := s.plan(ctx, m, given)
	if err != nil {
		return nil, err
	}
	if err := planned.check(given); err != nil {
		return nil, err
	}
	made := s.newRecord(m, p, planned)
	// The id is the same where the run that makes it is tried again, and with it the key of each of its runs.
	made.ID = s.env.SendID(ctx, fmt.Sprintf("agenda %q %q %q", m.ID, p.NodeCompositeID, p.Tag))
	if p.Replace {
		last, err := s.lastOf(ctx, p.MemberID, p.Tag, openFilter(p.Tag))
		if err != nil {
			return nil, err
		}
		made.Replaces = last.number + 1
	}
	inserted, err := s.insert(ctx, made)
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		inserted, err = s.agendas.Get(ctx, made.ID)
	}
	if err != nil {
		return nil, err
	}
	if p.Replace {
		// The agenda is there; now only the last of its tag may stay.
		if err := s.removeReplaced(context.WithoutCancel(ctx), p.MemberID, p.Tag); err != nil {
			return nil, err
		}
	}
	stored, err := fromDocument(inserted)
	if err != nil {
		return nil, err
	}
	return &stored.Agenda, nil
}

// insert adds a record, and returns it as it is stored.
func (s *Service) insert(ctx context.Context, made agenda.Record) (document.Object, error) {
	encoded, err := document.Encode(made)
	if err != nil {
		return document.Object{}, inMeta(err)
	}
	inserted, err := s.agendas.Insert(ctx, encoded)
	return inserted, inMeta(err)
}

// scheduleOf checks the parameters, and returns the schedule that they give.
func scheduleOf(p *agenda.NewAgendaParams) (schedule, error) {
	given := schedule{next: p.NextRunAt, pattern: p.Pattern, until: p.RunUntil}
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return given, err
	}
	switch {
	case p.NodeCompositeID == "":
		return given, boterr.Missing("nodeCompositeId", "the id of the node to run")
	case given.next == 0 && given.pattern == "":
		return given, boterr.Missing("nextRunAt", "when the node runs, or a pattern")
	case p.Replace && p.Tag == "":
		return given, missingTag()
	}
	return given, given.checkGiven()
}

// newRecord returns the record of a new agenda.
func (s *Service) newRecord(m *member.Member, p agenda.NewAgendaParams, planned schedule) agenda.Record {
	made := agenda.Record{
		Agenda: agenda.Agenda{
			Channel: m.Channel, Member: m.ID,
			Tree: p.TreeID, NodeCompositeID: p.NodeCompositeID,
			NextRunAt: planned.next, Meta: p.Meta, Tag: p.Tag,
		},
		Pattern: planned.pattern, Zone: planned.zone, RunUntil: planned.until,
	}
	if m.ID == s.scope.Member {
		made.GroupExternalID = s.scope.GroupExternalID
	}
	if made.Tree == "" {
		made.Tree = s.ports.Tree(m, p.NodeCompositeID)
	}
	if p.Priority != nil {
		made.Priority = *p.Priority
	}
	if made.Meta.IsZero() {
		made.Meta = document.O()
	}
	return made
}
