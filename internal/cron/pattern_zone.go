package cron

import (
	"strings"
	"time"
	"unicode"

	"github.com/botctx/go-sdk/boterr"
)

// ZonePrefix stands before the zone in a pattern that names its own.
const ZonePrefix = "CRON_TZ="

// NamesZone reports whether a pattern names its own zone.
func NamesZone(pattern string) bool { return strings.HasPrefix(strings.TrimSpace(pattern), ZonePrefix) }

// ReadZone returns the zone of a pattern, which is the one that it names, else another one, and
// the pattern without it.
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
		return nil, "", boterr.Invalid("pattern", "%q names no zone behind %s; write %q", text, ZonePrefix, exampleInZone)
	}
	location, err = LoadZone(name)
	return location, fields, boterr.WithField("pattern", err)
}
