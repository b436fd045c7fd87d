package agendas

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/cron"
)

// A pattern that names no zone goes on in that of its member. So before each run of it the host is
// asked which zone that is now: before, since what fails then fails while nothing has been done.
//
// Where the member has moved east, the time of the run has passed there already, and it runs, late.
// Where the member has moved west, the time has not come yet, and the run waits for it: nine o'clock
// is not four in the morning. Hours that are a wildcard mean no time of day, and are as due in one
// zone as in another; so is a run for which a call has named the instant itself, and one that has
// begun before.

// relocation is the error of a run that is not due yet in the zone of its member.
type relocation struct{ next time.Time }

// Error implements error.
func (r *relocation) Error() string {
	return "the member has moved to another time zone, where the run is due at " + r.next.Format(time.RFC3339)
}

// followMember takes note of the zone of a claim's member, in which the pattern goes on. It returns
// *relocation where the run is not due there, and an error where the zone is not known.
func (s *Scheduler) followMember(ctx context.Context, c *Claim) error {
	if s.zone == nil || !c.record.Repeats() || cron.NamesZone(c.record.Pattern) {
		return nil
	}
	name, err := s.zone(ctx, c.record.Agenda)
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

// unknownZone returns why the zone of a pattern is not known to this process, nil where it is. Another process
// may have a newer database of zones.
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
		return outcome{update: s.updates().relocate, stamps: goesOn(r, reason.next), next: reason.next}
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
