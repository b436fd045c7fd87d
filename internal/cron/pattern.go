// Package cron reads CRON patterns in time zones, and finds when they fire.
package cron

import (
	"time"

	"github.com/gorhill/cronexpr"

	"github.com/botctx/go-sdk/boterr"
)

// Pattern is a CRON pattern in a time zone, as the documentation of package agenda describes it. It is safe for
// concurrent use.
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

// Parse reads a CRON pattern. The zone is a name of the IANA database, such as "Europe/London", and UTC where it is
// empty. A text that names a zone in front, "CRON_TZ=Europe/London 0 9 * * 1", is read in that one.
//
// What is wrong with the text is an InvalidArgument for the field pattern, and so is a pattern
// that never fires, such as one for 30 February. A zone that is not known is one for the field
// zone, and so is "Local", because nothing depends on the zone of the machine.
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

// HasFixedHours reports whether the hours of the pattern are no wildcard.
func (p *Pattern) HasFixedHours() bool { return p.fixedHours }

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.text }

// Zone returns the name of the time zone, "UTC" where none was given.
func (p *Pattern) Zone() string { return p.location.String() }
