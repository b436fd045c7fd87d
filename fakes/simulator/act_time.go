package simulator

import (
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// timePlays are what time does.
func timePlays() map[string]reader {
	return map[string]reader{
		"advance":   of(advance),
		"advanceTo": of(advanceTo),
		"next":      of(next),
	}
}

// advanceWith is how much time passes, as time.ParseDuration reads it.
type advanceWith struct {
	By string `json:"by"`
}

func advance(b *branch, with advanceWith) (moment, error) {
	by, err := time.ParseDuration(with.By)
	if err != nil {
		return moment{}, boterr.Invalid("by", "is %q: give a time such as 90m or 24h", with.By)
	}
	return passed(b, by)
}

// advanceToWith is the time until which time passes.
type advanceToWith struct {
	To time.Time `json:"to"`
}

func advanceTo(b *branch, with advanceToWith) (moment, error) {
	by := with.To.Sub(b.platform.Now())
	if !b.platform.Now().Add(by).Equal(with.To) {
		return moment{}, boterr.Invalid("to", "is %v, which is too far from %v: give one within 290 years", with.To, b.platform.Now())
	}
	return passed(b, by)
}

// next lets time pass until the next agenda is due.
func next(b *branch, _ struct{}) (moment, error) {
	due := dueAgendas(b)
	if len(due) == 0 {
		return moment{}, boterr.New(boterr.NotFound, "", "nothing is scheduled")
	}
	first := slices.MinFunc(due, time.Time.Compare)
	return passed(b, max(0, first.Sub(b.platform.Now())))
}

// dueAgendas returns when the open agendas of the members run next.
func dueAgendas(b *branch) []time.Time {
	var due []time.Time
	for _, p := range b.people() {
		if !p.isAlone() {
			continue
		}
		for _, record := range p.actor.In(b.platform).Agendas() {
			at := record.NextRunAt.Time()
			if record.RetryAt > 0 {
				at = record.RetryAt.Time()
			}
			if !record.Failed || record.Repeats() {
				due = append(due, at)
			}
		}
	}
	return due
}

// lastYear is the last one of which JSON has times.
const lastYear = 9999

// passed lets time pass.
func passed(b *branch, by time.Duration) (moment, error) {
	if by < 0 {
		return moment{}, boterr.Invalid("by", "is %v: time does not go back, but the timeline does", by)
	}
	if b.platform.Now().Add(by).UTC().Year() > lastYear {
		return moment{}, boterr.Invalid("by", "is %v, which is beyond the year %d: give less", by, lastYear)
	}
	return b.does(conversation.Waits{For: by}, moment{what: passText(by)})
}

// passText says that time passes.
func passText(d time.Duration) string {
	text := spanText(d)
	if strings.HasPrefix(text, "1 ") && strings.Count(text, " ") == 1 {
		return text + " passes"
	}
	return text + " pass"
}

// spanText returns a time in words: in the largest units that it has.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	units := []struct {
		word string
		of   time.Duration
	}{{"day", day}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	text := ""
	for _, unit := range units {
		if n := d / unit.of; n > 0 {
			if text != "" {
				text += " "
			}
			text += plural(int(n), unit.word)
			d %= unit.of
		}
	}
	switch {
	case text != "":
		return text
	case d > 0:
		return d.String()
	default:
		return "0 seconds"
	}
}
