package cron

import (
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// maxZoneLength is longer than any name of the IANA database.
const maxZoneLength = 64

// exampleZone is the zone that errors give as an example.
const exampleZone = "Europe/London"

// exampleInZone is the pattern with a zone that errors give as an example.
const exampleInZone = ZonePrefix + exampleZone + " 0 9 * * 1"

// LoadZone returns the time zone of that name in the IANA database, and UTC for "". Its errors are
// for the field zone.
func LoadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if name == "Local" {
		return nil, boterr.Invalid("zone", "Local is the zone of the machine; name one such as %q", exampleZone)
	}
	// All names begin with a capital letter. Files beside them, such as localtime, do not.
	if len(name) > maxZoneLength || name[0] < 'A' || name[0] > 'Z' {
		return nil, boterr.Invalid("zone", "must be a name of the IANA database in its spelling, such as %q, got %q", exampleZone, name)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, boterr.Invalid("zone", "%q is not in the time-zone database; give a name such as %q, and where the machine "+
			"has no database, import time/tzdata into the program: %w", name, exampleZone, err)
	}
	return location, nil
}

// period is a time in which the clocks of a zone keep the same distance from UTC. The clocks
// may go on the same at its end, too.
type period struct {
	// start and end are instants, zero where the period has no such end.
	start, end time.Time
	offset     time.Duration
}

// periodAt returns the period that holds an instant.
func periodAt(instant time.Time, location *time.Location) period {
	local := instant.In(location)
	start, end := local.ZoneBounds()
	if !end.IsZero() && !end.After(instant) {
		// In a zone that follows a rule for ever, ZoneBounds ends each year after 365 days, before
		// its last day in a leap year. No rule changes clocks on this day.
		end = instant.Truncate(oneDay).Add(oneDay)
	}
	_, offset := local.Zone()
	return period{start: start.UTC(), end: end.UTC(), offset: time.Duration(offset) * time.Second}
}

const oneDay = 24 * time.Hour

// wallClock returns what the clocks show at an instant of the period, written as UTC.
func (p *period) wallClock(instant time.Time) time.Time { return instant.Add(p.offset) }

// has reports whether the clocks show a time before the period ends.
func (p *period) has(wall time.Time) bool {
	return p.end.IsZero() || wall.Add(-p.offset).Before(p.end)
}

// isLast reports whether the clocks never change again.
func (p *period) isLast() bool { return p.end.IsZero() }

// seenBefore returns the last time that the clocks showed in the period before, or the zero
// time where wall is too far behind the start for the clocks to have shown it before.
func (p *period) seenBefore(wall time.Time, location *time.Location) time.Time {
	if p.start.IsZero() || wall.Sub(p.wallClock(p.start)) > oneDay {
		return time.Time{}
	}
	last := p.start.Add(-time.Second)
	before := periodAt(last, location)
	return before.wallClock(last)
}
