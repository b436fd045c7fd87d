package agendas

import (
	"sync"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/cron"
)

// patterns remembers patterns that were parsed. The zero patterns is ready, and safe for
// concurrent use.
type patterns struct {
	mu     sync.Mutex
	parsed map[patternKey]*cron.Pattern
}

type patternKey struct{ text, zone string }

// maxPatterns bounds what patterns remembers.
const maxPatterns = 1024

// parse is cron.Parse.
func (p *patterns) parse(text, zone string) (*cron.Pattern, error) {
	key := patternKey{text: text, zone: zone}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.parsed[key]; ok {
		return known, nil
	}
	parsed, err := cron.Parse(text, zone)
	if err != nil {
		return nil, err
	}
	if p.parsed == nil || len(p.parsed) == maxPatterns {
		p.parsed = map[patternKey]*cron.Pattern{}
	}
	p.parsed[key] = parsed
	return parsed, nil
}

// missed returns the number of occurrences after the one that a record is scheduled for,
// up to now, at most MaxMissed.
func (s *Scheduler) missed(r *agenda.Record, now time.Time) int {
	count := 0
	for at := r.NextRunAt.Time(); count < agenda.MaxMissed; count++ {
		var err error
		if at, err = s.occurrence(r, at); err != nil || at.IsZero() || at.After(now) {
			break
		}
	}
	return count
}

// occurrence returns the first occurrence of a record's pattern after a time, or the zero
// time where there is none until RunUntil.
func (s *Scheduler) occurrence(r *agenda.Record, after time.Time) (time.Time, error) {
	if !r.Repeats() {
		return time.Time{}, nil
	}
	pattern, err := s.patterns.parse(r.Pattern, r.Zone)
	if err != nil {
		return time.Time{}, err
	}
	next, ok := pattern.Next(after)
	if !ok || document.TimestampOf(next) > r.RunUntil {
		return time.Time{}, nil
	}
	return next, nil
}
