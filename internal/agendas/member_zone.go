package agendas

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/member"
)

// Zone returns the time zone in which the patterns for a member are read: a name of the IANA
// database, such as "Europe/London", or "" for UTC. What it cannot tell now is an error, which an
// operation returns with its code, for the field zone.
type Zone func(ctx context.Context, m *member.Member) (string, error)

// Location returns the time zone of a member as Go has it. The nil Zone gives UTC. What is wrong
// with the zone is an error for the field zone.
func (z Zone) Location(ctx context.Context, m *member.Member) (*time.Location, error) {
	if z == nil {
		return time.UTC, nil
	}
	name, err := z(ctx, m)
	if name, err = zoneOf(m.ID, name, err); err != nil {
		return nil, err
	}
	return cron.LoadZone(name)
}

// plan returns the schedule that a call gives for a member, with its zone and its next run.
func (s *Service) plan(ctx context.Context, m *member.Member, given schedule) (schedule, error) {
	if !s.asksZone(given) {
		return s.planIn("", given)
	}
	name, err := s.ports.Zone(ctx, m)
	if name, err = zoneOf(m.ID, name, err); err != nil {
		return given, err
	}
	return s.planIn(name, given)
}

// planIn returns the schedule that a call gives, with its zone and its next run.
func (s *Service) planIn(zone string, given schedule) (schedule, error) {
	planned := given
	planned.zone = zone
	var err error
	planned.next, err = planned.firstRun(s.env.Now())
	return planned, err
}

// asksZone reports whether the host is asked in which zone a schedule is.
func (s *Service) asksZone(given schedule) bool {
	return s.ports.Zone != nil && given.pattern != "" && !cron.NamesZone(given.pattern)
}

// zoneOf returns the name of the zone that a host has given for a member, or the error at the field
// zone where it has failed or given a name that is none.
func zoneOf(memberID, name string, failure error) (string, error) {
	if failure != nil {
		return "", boterr.New(boterr.CodeOf(failure), "zone", "the host does not tell the time zone of the member %s: %w", memberID, failure)
	}
	if _, err := cron.LoadZone(name); err != nil {
		return "", boterr.Invalid("zone", "the host gives the member %s a time zone that is none: %w", memberID, errors.Unwrap(err))
	}
	return name, nil
}
