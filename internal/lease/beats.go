package lease

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
)

// startBeating starts what renews the turns that are held, unless it is at work.
func (t *Turns) startBeating() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isBeating {
		t.isBeating = true
		go t.beat()
	}
}

// beat renews the turns that are held, until there are none.
func (t *Turns) beat() {
	done := false
	defer func() {
		if !done {
			go t.beat() // The store has ended the goroutine.
		}
	}()
	ticker := time.NewTicker(t.lease / BeatsPerLease)
	defer ticker.Stop()
	for !t.isIdle() {
		<-ticker.C
		t.renewAll()
		t.sweepNowAndThen()
	}
	done = true
}

// isIdle reports whether nothing is held; then what renews is at work no more.
func (t *Turns) isIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isBeating = len(t.held.All()) > 0
	return !t.isBeating
}

// renewAll renews the turns that are held once.
func (t *Turns) renewAll() {
	ctx, cancel := context.WithTimeout(context.Background(), t.lease/BeatsPerLease)
	defer cancel()
	asked := t.now()
	now, err := t.store.Now(ctx)
	renewal, failure := Renewal(now.Add(t.lease))
	if err != nil {
		failure = err
	}
	t.held.RenewAll(ctx, failure, func(ctx context.Context, turn *Turn) (bool, error) {
		holds, err := Renew(ctx, t.records, turn.lane, turn.fence, renewal)
		if err == nil && holds {
			turn.confirmed(asked)
		}
		return holds, err
	}, func(turn *Turn, err error) {
		t.log.LogAttrs(ctx, slog.LevelWarn, "lease: turn not renewed",
			slog.String("lane", turn.lane), slog.String("error", display.Text(err)))
	})
}

// The pauses between two looks at a lane that is held: the first one, doubled each time up to the
// last.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = time.Second
)

// Acquire waits for a turn of a lane, begins it and keeps it; cancel is called where it is lost.
// Those who wait in several processes come in no order. Canceled: ctx ended first. The other
// errors are those of the store.
func (t *Turns) Acquire(
	ctx context.Context, lane, purpose string, cancel context.CancelCauseFunc,
) (*Turn, error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		turn, err := t.try(ctx, lane, purpose)
		if err != nil {
			return nil, err
		}
		if turn != nil {
			turn.Keep(cancel) //nolint:contextcheck // What renews goes on for other turns when this run has ended.
			return turn, nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, boterr.New(boterr.Canceled, "", "the context ended before the turn began: %w", context.Cause(ctx))
		}
	}
}

// try claims a lane that is free. It returns nil where the lane is held.
func (t *Turns) try(ctx context.Context, lane, purpose string) (*Turn, error) {
	seen, err := t.Look(ctx, []string{lane})
	if err != nil {
		return nil, err
	}
	clock := t.Roughly
	if seen[lane].Has(FieldUntil) {
		clock = t.Now
	}
	now, err := clock(ctx)
	if err != nil || IsHeld(seen[lane], now) {
		return nil, err
	}
	return t.Claim(ctx, lane, seen[lane], now, Work{Purpose: purpose})
}

// Now returns the store's clock. The errors are those of the store.
func (t *Turns) Now(ctx context.Context) (time.Time, error) {
	own := t.now()
	now, err := t.store.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock = reading{store: now, own: own}
	return now, nil
}

// Roughly is Now without asking the store where it was asked less than a quarter of a lease ago.
// It says until when a claim holds; whether one has passed is for Now to say.
func (t *Turns) Roughly(ctx context.Context) (time.Time, error) {
	t.mu.Lock()
	last := t.clock
	t.mu.Unlock()
	since := t.now().Sub(last.own)
	if since >= 0 && since < t.lease/BeatsPerLease && !last.store.IsZero() {
		return last.store.Add(since), nil
	}
	return t.Now(ctx)
}
