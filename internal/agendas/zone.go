package agendas

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/member"
)

// Zone returns the time zone for a member's patterns: an IANA name such as "Europe/London", or "" for UTC. If it
// fails, the operation returns the error with its code and the field zone.
type Zone func(ctx context.Context, m *member.Member) (string, error)

// Location returns a member's time zone as a *time.Location. A nil Zone returns UTC. Errors have the field
// zone.
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

// plan returns the schedule of a call for a member, with its zone and next run.
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

// planIn is plan with a known zone.
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

// zoneOf checks the result of the host's function for a member's zone. Its errors have the field zone.
func zoneOf(memberID, name string, failure error) (string, error) {
	if failure != nil {
		return "", boterr.New(boterr.CodeOf(failure), "zone", "the host did not return the time zone of the member %s: %w", memberID, failure)
	}
	if _, err := cron.LoadZone(name); err != nil {
		return "", boterr.Invalid("zone", "the host returned an invalid time zone for the member %s: %w", memberID, errors.Unwrap(err))
	}
	return name, nil
}

// A pattern that does not name a zone continues in its member's current zone. The scheduler asks the host for the
// zone before each run, so that a failure does not leave a run half-done.
//
// If the member has moved east, the time of the run has already passed there, and the agenda runs late. If the member
// has moved west, the run waits for its time of day: a reminder for nine o'clock must not arrive at four in the
// morning. Some runs do not wait: patterns with a wildcard for the hours, runs whose time a call set, and runs that
// were tried before.

// relocation is the error for a run that is not due yet in its member's zone. next is the time when it is.
type relocation struct{ next time.Time }

func (r *relocation) Error() string {
	return "the member has moved to another time zone, where the run is due at " + r.next.Format(time.RFC3339)
}

// followMember sets the zone in which a claim's pattern continues. It returns *relocation if the run is not due there
// yet, and another error if the zone is unknown.
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

// unknownZone returns an error if this process does not know the zone of a pattern. Another process may have a newer
// time zone database.
func (s *Scheduler) unknownZone(r *agenda.Record) error {
	if !r.Repeats() {
		return nil
	}
	if _, err := s.pattern(r.Pattern, r.Zone); err == nil {
		return nil
	}
	_, _, err := cron.ReadZone(r.Pattern, r.Zone)
	return err
}

// enter sets the zone in which the agenda continues. If an agenda moves from another zone to UTC, its zone is "UTC"
// instead of "".
func (c *Claim) enter(zone string) {
	if zone == "" && c.record.Zone != "" {
		zone = time.UTC.String()
	}
	c.zone, c.record.Zone = zone, zone
}

// notBefore returns the time at which an agenda that was scheduled in the zone before is due in its current
// zone. It is the scheduled time, unless the member has moved west.
func (s *Scheduler) notBefore(r *agenda.Record, before string) (time.Time, error) {
	scheduled := r.NextRunAt.Time()
	here, err := s.pattern(r.Pattern, r.Zone)
	if err != nil {
		return scheduled, err
	}
	there, err := s.pattern(r.Pattern, before)
	if err != nil || !there.HasFixedHours() || !there.FiresAt(scheduled) || !here.IsBehind(there, scheduled) {
		return scheduled, err
	}
	next, _ := here.Next(scheduled.Add(-time.Second))
	return next, nil
}

// relocate releases a claim whose run is not due yet in its member's zone.
func (s *Scheduler) relocate(ctx context.Context, c *Claim, reason *relocation) (agenda.Result, error) {
	result, err := s.abandon(ctx, c, reason, func(c *Claim) outcome {
		if isRescheduled(c.stored) || document.TimestampOf(reason.next) > c.record.RunUntil {
			return released(c)
		}
		return outcome{update: updates().relocate, stamps: goesOn(&c.record, reason.next), next: reason.next}
	})
	result.Relocated, result.Err = true, nil
	return result, err
}

// goesOn returns the fields to set in an agenda that next runs at a time.
func goesOn(r *agenda.Record, next time.Time) document.Object {
	if r.Zone == "" {
		return document.O(fieldNextRunAt, millis(next))
	}
	return document.O(fieldNextRunAt, millis(next), fieldZone, r.Zone)
}

type patternKey struct{ text, zone string }

// maxPatterns is the maximum number of cached patterns.
const maxPatterns = 1024

// pattern parses a pattern, or returns it from the cache.
func (s *Scheduler) pattern(text, zone string) (*cron.Pattern, error) {
	key := patternKey{text: text, zone: zone}
	if known := s.patterns.Get(key); known != nil {
		return known, nil
	}
	parsed, err := cron.Parse(text, zone)
	if err == nil {
		s.patterns.Keep(key, parsed)
	}
	return parsed, err
}

// missed returns how many occurrences of a record's pattern lie after the scheduled one and not after now. It is at
// most MaxMissed.
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

// occurrence returns the first occurrence of a record's pattern after a time, or the zero time if there is none up to
// RunUntil.
func (s *Scheduler) occurrence(r *agenda.Record, after time.Time) (time.Time, error) {
	if !r.Repeats() {
		return time.Time{}, nil
	}
	pattern, err := s.pattern(r.Pattern, r.Zone)
	if err != nil {
		return time.Time{}, err
	}
	next, ok := pattern.Next(after)
	if !ok || document.TimestampOf(next) > r.RunUntil {
		return time.Time{}, nil
	}
	return next, nil
}
