package agenda

import (
	"time"

	"github.com/gorhill/cronexpr"

	"github.com/botctx/go-sdk/boterr"
)

// Pattern is a CRON pattern in a time zone. It is safe for concurrent use.
//
// A pattern names times of a wall clock. Where the zone changes its clocks:
//
//   - In a gap, when clocks go forward, a pattern of fixed hours that names times within the
//     gap fires once, at the first instant after it. One whose hours are a wildcard has
//     nothing to make up for and does not.
//   - In an overlap, when clocks go back, a pattern with a wildcard for its seconds, minutes or
//     hours fires in both passes, and any other once, in the first.
//
// A wildcard is "*" or "*/n".
type Pattern struct {
	text     string
	location *time.Location
	// schedule is never asked itself, for it remembers things between two calls: each call
	// asks a copy, which shares with it only what is never written.
	schedule cronexpr.Expression
	// fixedHours is set where the hours are no wildcard, fixedTime where neither they nor
	// the minutes nor the seconds are.
	fixedHours, fixedTime bool
}

// ParsePattern reads a CRON pattern of 5 to 7 fields, apart by spaces, for the wall clock of
// a time zone.
//
// Five fields are minutes (0-59), hours (0-23), days of the month (1-31), months (1-12 or
// jan-dec) and days of the week (0-7 or sun-sat; 0 and 7 are Sunday). A sixth, at the end, is
// years (1970-2099). Seven begin with seconds (0-59). Without seconds a pattern fires at
// second 0.
//
// A field is a list, apart by commas, of values, ranges ("9-17"), steps ("*/5", "0-30/10";
// "7/10" goes on to the end of the field) and "*". Days of the month may be "L" (the last
// day), "15W" (the weekday nearest to the 15th in its month) and "LW" (the last weekday); days
// of the week may be "5L" (the last Friday of the month) and "1#2" (the second Monday). In
// both, "?" is "*". Where neither of the two is "*", either of them is enough: "0 0 13 * 5"
// fires on each 13th and on each Friday.
//
// Instead of fields there may be one macro: @yearly, @annually, @monthly, @weekly, @daily or
// @hourly. Upper and lower case are the same.
//
// The zone is a name of the IANA database, such as "Europe/London", and UTC where it is empty. A
// text that names a zone in front, "CRON_TZ=Europe/London 0 9 * * 1", is read in that one, see InZone.
//
// What is wrong with the text is an InvalidArgument for the field pattern, and so is a pattern
// that never fires, such as one for 30 February. A zone that is not known is one for the field
// zone, and so is "Local", because nothing depends on the zone of the machine.
func ParsePattern(text, zone string) (*Pattern, error) {
	location, words, err := readZone(text, zone)
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(words)
	if err != nil {
		return nil, boterr.PrefixField("pattern", err)
	}
	schedule, err := cronexpr.Parse(fields.String())
	if err != nil {
		return nil, boterr.Invalid("pattern", "%q cannot be read (%w); write it in simpler terms", text, err)
	}
	pattern := &Pattern{
		text:       text,
		location:   location,
		schedule:   *schedule,
		fixedHours: !fields.hours().wildcard,
		fixedTime:  !fields.seconds().wildcard && !fields.minutes().wildcard && !fields.hours().wildcard,
	}
	if _, fires := pattern.Next(beforeAllYears); !fires {
		return nil, boterr.Invalid("pattern", "%q never fires; name days that its months and years have", text)
	}
	return pattern, nil
}

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.text }

// Zone returns the name of the time zone, "UTC" where none was given.
func (p *Pattern) Zone() string { return p.location.String() }
