package agenda

import (
	"strings"
	"time"
	"unicode"

	"github.com/botctx/go-sdk/boterr"
)

// zonePrefix stands before the zone in a pattern that names its own.
const zonePrefix = "CRON_TZ="

// InZone returns a pattern that names its own time zone: InZone("Europe/Berlin", "0 9 * * 1") is
// "CRON_TZ=Europe/Berlin 0 9 * * 1", each Monday at nine in Berlin. Such a pattern stays in its
// zone, whatever zone the host gives for the member, and wherever the member moves. The zone is a
// name of the IANA database; operations that are given the pattern refuse another one.
func InZone(zone, pattern string) string { return zonePrefix + zone + " " + pattern }

// namesZone reports whether a pattern names its own zone.
func namesZone(pattern string) bool { return strings.HasPrefix(strings.TrimSpace(pattern), zonePrefix) }

// readZone returns the zone of a pattern, which is the one that it names, else another one, and
// the pattern without it.
func readZone(text, otherwise string) (location *time.Location, fields string, err error) {
	if !namesZone(text) {
		location, err = loadZone(otherwise)
		return location, text, err
	}
	name := strings.TrimSpace(text)[len(zonePrefix):]
	if end := strings.IndexFunc(name, unicode.IsSpace); end >= 0 {
		name, fields = name[:end], name[end:]
	}
	if name == "" {
		return nil, "", boterr.Invalid("pattern", "%q names no zone behind %s; write %q", text, zonePrefix,
			InZone(exampleZone, "0 9 * * 1"))
	}
	location, err = loadZone(name)
	return location, fields, boterr.WithField("pattern", err)
}
