package agendas

import (
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/cron"
)

// latestTime is the last time that a schedule may name: the end of the dates of
// ECMAScript, in which bot logic counts. What is later is no number of milliseconds.
const latestTime document.Timestamp = 8_640_000_000_000_000

// schedule is when an agenda runs, as a call gives it or as it is stored.
type schedule struct {
	// next is the next run, pattern what gives the runs after it until the instant
	// until. What is absent is zero. It takes both to run again: a pattern without an end
	// gives no run after next, and an end without a pattern ends nothing.
	next    document.Timestamp
	pattern string
	until   document.Timestamp
	// zone is that of the pattern, "" for UTC and where the pattern names its own.
	zone string
}

// checkGiven refuses what is no time and what is no pattern, even where next overrides it.
func (s schedule) checkGiven() error {
	if err := checkTime("nextRunAt", s.next); err != nil {
		return err
	}
	if err := checkTime("runUntil", s.until); err != nil || s.pattern == "" {
		return err
	}
	_, err := cron.Parse(s.pattern, "")
	return err
}

func checkTime(field string, at document.Timestamp) error {
	if at < 0 || at > latestTime {
		return boterr.Invalid(field, "must be a time in Unix milliseconds between 1 and %d, got %d", latestTime, at)
	}
	return nil
}

// firstRun returns when the schedule that a call gives runs first: at the time that it names, else
// by its pattern after now. 0 is for one without either.
func (s schedule) firstRun(now time.Time) (document.Timestamp, error) {
	if s.pattern == "" || s.next != 0 {
		return s.next, nil
	}
	pattern, err := cron.Parse(s.pattern, s.zone)
	if err != nil {
		return 0, err
	}
	first, ok := pattern.Next(now)
	if !ok {
		return 0, boterr.Invalid("pattern", "never fires after %s", now.UTC().Format(time.RFC3339))
	}
	return document.TimestampOf(first), nil
}

// check refuses a schedule that no agenda may have: a pattern that is to give the next
// run and has no end, or one that checkEnd refuses. given is what the call gave of it,
// which the error is about.
func (s schedule) check(given schedule) error {
	if given.pattern != "" && given.next == 0 && s.until == 0 {
		return boterr.Missing("runUntil", "the last instant at which the pattern may run")
	}
	return s.checkEnd(given)
}

// checkEnd refuses a pattern that ends before the next run.
func (s schedule) checkEnd(given schedule) error {
	switch {
	case s.pattern == "" || s.until == 0 || s.next <= s.until:
		return nil
	case given.next != 0:
		return boterr.Invalid("nextRunAt", "is %s, which is after runUntil, %s: no run is left", text(s.next), text(s.until))
	case given.pattern != "":
		return boterr.Invalid("pattern", "fires first at %s, which is after runUntil, %s: no run is left; give a later runUntil, in milliseconds",
			text(s.next), text(s.until))
	default:
		return boterr.Invalid("runUntil", "is %s, and the next run is at %s: no run is left; delete the agenda to end it",
			text(s.until), text(s.next))
	}
}

// text is a time as errors show it.
func text(at document.Timestamp) string { return at.Time().Format(time.RFC3339Nano) }
