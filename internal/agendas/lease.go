package agendas

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store/query"
)

// leases are the claims that a Run holds.
type leases = lease.Held[*Claim]

// abandonAll ends all claims where nobody waits for their runs any longer, and returns them in
// the order of their ids.
func abandonAll(held *leases) []*Claim {
	abandoned := held.Take(func(c *Claim) { c.isAbandoned.Store(true) })
	slices.SortFunc(abandoned, func(a, b *Claim) int { return strings.Compare(a.id, b.id) })
	return abandoned
}

// renewAll renews the leases once.
func (s *Scheduler) renewAll(ctx context.Context, held *leases) {
	if len(held.All()) == 0 {
		return
	}
	back := s.inFlight.begin("the renewal of leases")
	defer back()
	beat, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.lease/lease.BeatsPerLease)
	defer cancel()
	renewal, err := s.renewal(beat)
	held.RenewAll(beat, err, func(ctx context.Context, c *Claim) (bool, error) {
		return lease.Renew(ctx, s.agendas, c.id, c.fence, renewal)
	}, func(c *Claim, err error) {
		s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: lease not renewed",
			slog.String("agenda", c.id), slog.String("error", display.Text(err)))
	})
}

// renewal returns the change that renews a lease now.
func (s *Scheduler) renewal(ctx context.Context) (query.Change, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return query.Change{}, err
	}
	update, err := query.CompileUpdate(document.O("$set", document.O(
		fieldLeaseUntil, millis(now.Add(s.lease)), fieldHeldAt, millis(now))))
	return query.Change{Update: update}, err
}
