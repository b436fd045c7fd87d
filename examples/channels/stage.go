package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
)

// stage is the shop while the conversation is played, and how far it has been printed.
type stage struct {
	*florist

	page     page
	calls    int
	payments map[string]string
	shown    map[string]bool
}

// morning is when the conversation begins.
func morning() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

// play plays the conversation, and returns what there is to read of it.
func play() (string, error) {
	s := &stage{florist: newFlorist(fakes.At(morning())), payments: map[string]string{}, shown: map[string]bool{}}
	before := s.Snapshot()
	s.page.introduce()
	for i, step := range conversation {
		if err := s.step(step); err != nil {
			return "", fmt.Errorf("%s: %w", step.title, err)
		}
		s.page.title(fmt.Sprintf("%d. %s", i+1, step.title))
		if err := s.printNew(); err != nil {
			return "", err
		}
		if i == 0 {
			s.printFirstEvent()
		}
	}
	s.printAfterwards()
	s.Restore(before)
	if err := s.printOperations(); err != nil {
		return "", err
	}
	if err := s.printLimits(); err != nil {
		return "", err
	}
	return s.page.text.String(), nil
}

// step lets a step happen.
func (s *stage) step(step step) error {
	if step.once != nil {
		if err := step.once(s.florist); err != nil {
			return err
		}
	}
	if step.each == nil {
		return nil
	}
	for _, ada := range s.adas {
		err := step.each(s.florist, ada)
		code, isRefused := step.refused[ada.on]
		switch {
		case isRefused && err == nil:
			return fmt.Errorf("on %s it is not refused, as it should be with %s", ada.on, string(code))
		case isRefused && errors.Is(err, code), err == nil:
		default:
			return fmt.Errorf("on %s: %w", ada.on, err)
		}
	}
	return nil
}

// printNew prints what has happened since the last time: at the payment provider, and on the
// platforms.
func (s *stage) printNew() error {
	var all groups
	for _, payment := range s.account.Payments() {
		if now := jsonOf(payment); s.payments[payment.ID] != now {
			s.payments[payment.ID] = now
			all.add("a payment, by golf", "", row{
				on: payment.Metadata["channel"], text: without(payment, "id", "metadata", "createdAt"),
			})
		}
	}
	calls := s.Calls()
	for _, call := range calls[s.calls:] {
		if call.Op == botctx.OpGolf || call.Op == botctx.OpRedirectMemberToNode {
			continue // They show by what they lead to.
		}
		message, err := messageOf(call, s.ada(channel.Type(call.Scope.Channel)).Member())
		if err != nil {
			return err
		}
		all.addCall(call, message)
	}
	s.calls = len(calls)
	all.print(&s.page, s.shown)
	return nil
}

// printFirstEvent prints a whole message event, which results have in short.
func (s *stage) printFirstEvent() {
	first := resultsOf(s.Calls(botctx.OpSendResponse)[0])[0]
	s.page.row(row{on: s.Sent()[0].Channel, id: short + " is", text: jsonOf(first.MessageEvent)})
}
