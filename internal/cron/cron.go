// Package cron parses CRON patterns in time zones and computes when they fire.
package cron

import (
	"strings"
	"time"
	"unicode"

	"github.com/gorhill/cronexpr"

	"github.com/botctx/go-sdk/boterr"
)

// Pattern is a CRON pattern in a time zone. Package agenda documents its syntax. It is safe for concurrent use.
type Pattern struct {
	text     string
	location *time.Location
	// schedule keeps state between calls, so each call must use a copy. Copies share only immutable data.
	schedule cronexpr.Expression
	// fixedHours is true if the hours are not a wildcard. fixedTime is true if hours, minutes and seconds are not.
	fixedHours, fixedTime bool
}

// Parse parses a CRON pattern. zone is an IANA name such as "Europe/London", or "" for UTC. A pattern may start with
// its own zone, as in "CRON_TZ=Europe/London 0 9 * * 1".
//
// Parse returns InvalidArgument with the field pattern if the pattern is malformed or never fires, such as one for 30
// February. It returns InvalidArgument with the field zone for an unknown zone, and for "Local", because nothing may
// depend on the machine's zone.
func Parse(text, zone string) (*Pattern, error) {
	location, words, err := ReadZone(text, zone)
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(words)
	if err != nil {
		return nil, boterr.PrefixField("pattern", err)
	}
	schedule, err := cronexpr.Parse(fields.String())
	if err != nil {
		return nil, boterr.Invalid("pattern", "%q cannot be read (%w); write a CRON pattern such as \"0 9 * * 1-5\"", text, err)
	}
	pattern := &Pattern{
		text:       text,
		location:   location,
		schedule:   *schedule,
		fixedHours: !fields.hours().wildcard,
		fixedTime:  !fields.seconds().wildcard && !fields.minutes().wildcard && !fields.hours().wildcard,
	}
	if _, fires := pattern.Next(beforeAllYears); !fires {
		return nil, boterr.Invalid("pattern", "%q never fires; choose days that exist in its months and years", text)
	}
	return pattern, nil
}

// HasFixedHours reports whether the hours of the pattern are not a wildcard.
func (p *Pattern) HasFixedHours() bool { return p.fixedHours }

// String returns the pattern as given.
func (p *Pattern) String() string { return p.text }

// Bounds of the years that a pattern can name. They hold for every zone, because no zone is a day or more from UTC.
var (
	beforeAllYears = time.Date(1969, time.December, 31, 0, 0, 0, 0, time.UTC)
	afterAllYears  = time.Date(2100, time.January, 2, 0, 0, 0, 0, time.UTC)
)

// Next returns the first time after another time at which the pattern fires, in UTC. ok is false if the pattern never
// fires again. For changes of clocks, see package agenda.
func (p *Pattern) Next(after time.Time) (next time.Time, ok bool) {
	switch {
	case after.Before(beforeAllYears):
		after = beforeAllYears
	case after.After(afterAllYears):
		return time.Time{}, false
	}
	if p.location == time.UTC {
		return p.nextOnWallClock(after.UTC())
	}
	return p.nextInZone(after.UTC())
}

// nextInZone searches the zone's periods, starting with the one that contains after, until a period has a matching
// time.
func (p *Pattern) nextInZone(after time.Time) (time.Time, bool) {
	now := periodAt(after, p.location)
	wall := now.wallClock(after)
	for {
		if p.fixedTime {
			if seen := now.seenBefore(wall, p.location); seen.After(wall) {
				wall = seen
			}
		}
		next, found := p.nextOnWallClock(wall)
		if found && now.has(next) {
			return next.Add(-now.offset), true
		}
		if now.end.IsZero() {
			return time.Time{}, false
		}
		following := periodAt(now.end, p.location)
		resumed := following.wallClock(now.end)
		if found && p.fixedHours && next.Before(resumed) { // The time is in the gap between the two periods.
			return now.end, true
		}
		if !found && resumed.After(wall) { // The next period starts after wall, so it has no match either.
			return time.Time{}, false
		}
		now, wall = following, resumed.Add(-time.Second)
	}
}

// nextOnWallClock returns the first time later than after that matches. Both are wall clock times written as UTC, so
// that no zone matters. It reports false if there is none.
func (p *Pattern) nextOnWallClock(after time.Time) (time.Time, bool) {
	schedule := p.schedule
	next := schedule.Next(after)
	if !next.After(after) {
		return time.Time{}, false
	}
	return next, true
}

// FiresAt reports whether a pattern fires at an instant.
func (p *Pattern) FiresAt(at time.Time) bool {
	next, ok := p.Next(at.Add(-time.Second))
	return ok && next.Equal(at)
}

// IsBehind reports whether, at a time, the clocks of the pattern's zone are behind the clocks of other's zone.
func (p *Pattern) IsBehind(other *Pattern, at time.Time) bool {
	return periodAt(at, p.location).offset < periodAt(at, other.location).offset
}

// maxZoneLength is more than the length of any IANA name.
const maxZoneLength = 64

const exampleZone = "Europe/London"

// exampleInZone is a pattern with a zone, as an example in errors.
const exampleInZone = ZonePrefix + exampleZone + " 0 9 * * 1"

// LoadZone returns the time zone with a name in the IANA database, and UTC for "". Its errors are for the field
// zone.
func LoadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if name == "Local" {
		return nil, boterr.Invalid("zone", "Local is the zone of the machine; name one such as %q", exampleZone)
	}
	// All names start with a capital letter. Other files in the database, such as localtime, do not.
	if len(name) > maxZoneLength || name[0] < 'A' || name[0] > 'Z' {
		return nil, boterr.Invalid("zone", "must be the exact name of a zone in the IANA database, such as %q, got %q", exampleZone, name)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, boterr.Invalid("zone", "%q is not in the time-zone database; give a name such as %q; if the machine "+
			"has no database, import time/tzdata into the program: %w", name, exampleZone, err)
	}
	return location, nil
}

// period is a span of time in which a zone's offset from UTC is constant. Adjacent periods may have the same offset.
type period struct {
	// start and end are instants. They are zero if the period has no start or end.
	start, end time.Time
	offset     time.Duration
}

func periodAt(instant time.Time, location *time.Location) period {
	local := instant.In(location)
	start, end := local.ZoneBounds()
	if !end.IsZero() && !end.After(instant) {
		// For zones with a permanent rule, ZoneBounds ends each year after 365 days. In a leap year, that is before
		// the last day. No rule changes clocks on that day.
		end = instant.Truncate(oneDay).Add(oneDay)
	}
	_, offset := local.Zone()
	return period{start: start.UTC(), end: end.UTC(), offset: time.Duration(offset) * time.Second}
}

const oneDay = 24 * time.Hour

// wallClock returns the wall clock time at an instant of the period, represented in UTC.
func (p *period) wallClock(instant time.Time) time.Time { return instant.Add(p.offset) }

// has reports whether the clocks show a wall clock time before the period ends.
func (p *period) has(wall time.Time) bool {
	return p.end.IsZero() || wall.Add(-p.offset).Before(p.end)
}

// seenBefore returns the last wall clock time of the previous period. It returns the zero time if wall is so long
// after the start of this period that the clocks did not show it before.
func (p *period) seenBefore(wall time.Time, location *time.Location) time.Time {
	if p.start.IsZero() || wall.Sub(p.wallClock(p.start)) > oneDay {
		return time.Time{}
	}
	last := p.start.Add(-time.Second)
	before := periodAt(last, location)
	return before.wallClock(last)
}

// ZonePrefix starts a pattern that names its zone.
const ZonePrefix = "CRON_TZ="

// NamesZone reports whether a pattern names its own zone.
func NamesZone(pattern string) bool { return strings.HasPrefix(strings.TrimSpace(pattern), ZonePrefix) }

// ReadZone returns the zone that a pattern names, or the zone called otherwise if it names none, and the
// pattern without the zone.
func ReadZone(text, otherwise string) (location *time.Location, fields string, err error) {
	if !NamesZone(text) {
		location, err = LoadZone(otherwise)
		return location, text, err
	}
	name := strings.TrimSpace(text)[len(ZonePrefix):]
	if end := strings.IndexFunc(name, unicode.IsSpace); end >= 0 {
		name, fields = name[:end], name[end:]
	}
	if name == "" {
		return nil, "", boterr.Invalid("pattern", "%q has no zone after %s; write %q", text, ZonePrefix, exampleInZone)
	}
	location, err = LoadZone(name)
	return location, fields, boterr.WithField("pattern", err)
}
