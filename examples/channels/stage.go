package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// stage is the shop while the conversation is played, and how far it has been printed.
type stage struct {
	*florist

	page     page
	calls    int
	payments map[string]string
	events   int
}

// morning is when the conversation begins.
func morning() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

// play plays the conversation, and returns what there is to read of it.
func play(ctx context.Context) (string, error) {
	s := &stage{florist: newFlorist(fakes.At(morning())), payments: map[string]string{}}
	before := s.Snapshot()
	s.page.text(introduction)
	for i, step := range conversation {
		if err := s.step(ctx, step); err != nil {
			return "", fmt.Errorf("%s: %w", step.title, err)
		}
		s.page.title(fmt.Sprintf("%d. %s", i+1, step.title))
		s.printNew()
	}
	s.printAfterwards()
	s.Restore(before)
	if err := s.printOperations(ctx); err != nil {
		return "", err
	}
	if err := s.printLimits(ctx); err != nil {
		return "", err
	}
	return s.page.String(), nil
}

// step lets a step happen.
func (s *stage) step(ctx context.Context, step step) error {
	if step.once != nil {
		if err := step.once(s.florist); err != nil {
			return err
		}
	}
	if step.each == nil {
		return nil
	}
	for _, ada := range s.adas {
		err := step.each(ctx, s.florist, ada)
		if code, isRefused := step.refused[ada.on]; isRefused {
			if !errors.Is(err, code) {
				return fmt.Errorf("on %s: want %s, got %w", ada.on, code, err)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("on %s: %w", ada.on, err)
		}
	}
	return nil
}

// printNew prints what has happened since the last time: at the payment provider, and on the
// platforms.
func (s *stage) printNew() {
	var all groups
	for _, event := range s.account.Events()[s.events:] {
		all.add("event of the payment provider", "", row{event.Payment.Metadata["channel"], event.ID, jsonOf(event, "payment")})
		s.events++
	}
	for _, payment := range s.account.Payments() {
		if shown := jsonOf(payment); s.payments[payment.ID] != shown {
			all.add("payment", "", row{payment.Metadata["channel"], "", jsonOf(payment, "metadata")})
			s.payments[payment.ID] = shown
		}
	}
	calls := s.Calls()
	for _, call := range calls[s.calls:] {
		if call.Op != botctx.OpGolf && call.Op != botctx.OpRedirectMemberToNode { // They show by what they lead to.
			all.addCall(call)
		}
	}
	s.calls = len(calls)
	s.page.groups(all)
}
