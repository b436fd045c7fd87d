package agendas

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
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

// A pattern that names no zone continues in its member's zone. So before each run of it the host is asked for
// the present zone. It is asked before the run, since a failure then means that nothing has been done.
//
// If the member has moved east, the time of the run has already passed there, and it runs, late. If the
// member has moved west, the time has not come yet, and the run waits for it: nine o'clock is not four in the
// morning. Hours that are a wildcard mean no time of day, and are as due in one zone as in another; so is a
// run whose time a call has named itself, and one that has begun before.

// relocation is the error of a run that is not due yet in the zone of its member.
type relocation struct{ next time.Time }

func (r *relocation) Error() string {
	return "the member has moved to another time zone, where the run is due at " + r.next.Format(time.RFC3339)
}

// followMember reads the zone of a claim's member, in which the pattern continues. It returns *relocation if
// the run is not due there, and an error if the zone is not known.
func (s *Scheduler) followMember(ctx context.Context, c *Claim) error {
	if s.config.Zone == nil || !c.record.Repeats() || cron.NamesZone(c.record.Pattern) {
		return nil
	}
	name, err := s.config.Zone(ctx, c.record.Agenda)
	if name, err = zoneOf(c.record.Member, name, err); err != nil {
		return err
	}
	before := c.record.Zone
	c.enter(name)
	if c.record.Attempts > 1 {
		return nil
	}
	next, err := s.notBefore(&c.record, before)
	if err == nil && next.After(c.claimedAt) && document.TimestampOf(next) <= c.record.RunUntil {
		err = &relocation{next: next}
	}
	return err
}

// unknownZone returns an error if this process does not know the zone of a pattern. Another process may have
// a newer database of zones.
func (s *Scheduler) unknownZone(r *agenda.Record) error {
	if !r.Repeats() {
		return nil
	}
	if _, err := s.patterns.parse(r.Pattern, r.Zone); err == nil {
		return nil
	}
	_, _, err := cron.ReadZone(r.Pattern, r.Zone)
	return err
}

// enter takes note of the zone in which the agenda goes on.
func (c *Claim) enter(zone string) {
	if zone == "" && c.record.Zone != "" {
		zone = time.UTC.String()
	}
	c.zone, c.record.Zone = zone, zone
}

// notBefore returns when an agenda that was scheduled in another zone is due in its own: the time
// for which it is scheduled, unless the member has moved west.
func (s *Scheduler) notBefore(r *agenda.Record, before string) (time.Time, error) {
	scheduled := r.NextRunAt.Time()
	here, err := s.patterns.parse(r.Pattern, r.Zone)
	if err != nil {
		return scheduled, err
	}
	there, err := s.patterns.parse(r.Pattern, before)
	if err != nil || !there.HasFixedHours() || !there.FiresAt(scheduled) || !here.IsBehind(there, scheduled) {
		return scheduled, err
	}
	next, _ := here.Next(scheduled.Add(-time.Second))
	return next, nil
}

// relocate gives back a claim whose run is not due yet in the zone of its member.
func (s *Scheduler) relocate(ctx context.Context, c *Claim, reason *relocation) (agenda.Result, error) {
	result, err := s.abandon(ctx, c, reason, func(r *agenda.Record) outcome {
		if wasRescheduled(r) || document.TimestampOf(reason.next) > r.RunUntil {
			return s.released(r)
		}
		return outcome{update: updates().relocate, stamps: goesOn(r, reason.next), next: reason.next}
	})
	result.Relocated, result.Err = true, nil
	return result, err
}

// goesOn returns the fields of an agenda that is to run next at a time.
func goesOn(r *agenda.Record, next time.Time) document.Object {
	if r.Zone == "" {
		return document.O(fieldNextRunAt, millis(next))
	}
	return document.O(fieldNextRunAt, millis(next), fieldZone, r.Zone)
}

// patterns remembers patterns that were parsed. The zero patterns is ready, and safe for
// concurrent use.
type patterns struct {
	mu     sync.Mutex
	parsed map[patternKey]*cron.Pattern
}

type patternKey struct{ text, zone string }

// maxPatterns bounds what patterns remembers.
const maxPatterns = 1024

func (p *patterns) parse(text, zone string) (*cron.Pattern, error) {
	key := patternKey{text: text, zone: zone}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.parsed[key]; ok {
		return known, nil
	}
	parsed, err := cron.Parse(text, zone)
	if err != nil {
		return nil, err
	}
	if p.parsed == nil || len(p.parsed) == maxPatterns {
		p.parsed = map[patternKey]*cron.Pattern{}
	}
	p.parsed[key] = parsed
	return parsed, nil
}

// missed returns the number of occurrences after the one that a record is scheduled for,
// up to now, at most MaxMissed.
func (s *Scheduler) missed(r *agenda.Record, now time.Time) int {
	count := 0
	for at := r.NextRunAt.Time(); count < agenda.MaxMissed; count++ {
		var err error
		if at, err = s.occurrence(r, at); err != nil || at.IsZero() || at.After(now) {
			break
		}
	}
	return count
}

// occurrence returns the first occurrence of a record's pattern after a time, or the zero
// time where there is none until RunUntil.
func (s *Scheduler) occurrence(r *agenda.Record, after time.Time) (time.Time, error) {
	if !r.Repeats() {
		return time.Time{}, nil
	}
	pattern, err := s.patterns.parse(r.Pattern, r.Zone)
	if err != nil {
		return time.Time{}, err
	}
	next, ok := pattern.Next(after)
	if !ok || document.TimestampOf(next) > r.RunUntil {
		return time.Time{}, nil
	}
	return next, nil
}
