package cron

import "time"

// The years of a pattern lie between these two in every zone, for none is a day from UTC.
var (
	beforeAllYears = time.Date(1969, time.December, 31, 0, 0, 0, 0, time.UTC)
	afterAllYears  = time.Date(2100, time.January, 2, 0, 0, 0, 0, time.UTC)
)

// Next returns the first time later than after at which the pattern fires, in UTC. It reports
// false where it never fires again. What happens where clocks change stands at Pattern.
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

// nextInZone goes through the periods of the zone from the one of after on, until one has a
// time that matches.
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
		if now.isLast() {
			return time.Time{}, false
		}
		following := periodAt(now.end, p.location)
		resumed := following.wallClock(now.end)
		if found && p.fixedHours && next.Before(resumed) { // It is in the gap between the two.
			return now.end, true
		}
		if !found && resumed.After(wall) { // No time that was searched comes again.
			return time.Time{}, false
		}
		now, wall = following, resumed.Add(-time.Second)
	}
}

// nextOnWallClock returns the first time later than after that matches, both written as if
// the wall clock showed UTC, so that no zone comes into it. It reports false where there is none.
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

// IsBehind reports whether the clocks of a pattern's zone are behind those of another one.
func (p *Pattern) IsBehind(other *Pattern, at time.Time) bool {
	return periodAt(at, p.location).offset < periodAt(at, other.location).offset
}
