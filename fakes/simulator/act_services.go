package simulator

import (
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// faultWith is a fault, or the end of a lasting one, as a line of a conversation: "The next mail fails: Unavailable".
type faultWith struct {
	Line string `json:"line"`
}

func fault(b *branch, with faultWith) (moment, error) {
	read, err := conversation.Parse("line", with.Line)
	if err != nil {
		return moment{}, boterr.Invalid("line", "%w", err)
	}
	if len(read.Steps) == 1 {
		switch act := read.Steps[0].Act.(type) {
		case conversation.Faults, conversation.Lifts:
			return b.does(act, moment{})
		}
	}
	return moment{}, boterr.Invalid("line", "is %q: give a fault, such as The next sendResponse times out", with.Line)
}

type channelWith struct {
	Channel string `json:"channel"`
	On      bool   `json:"on"`
}

// known returns NotFound if the channel is not on the page.
func (c channelWith) known(b *branch) error {
	if all := channelIDs(fakes.Observing(context.Background()), b); !slices.Contains(all, c.Channel) {
		return boterr.New(boterr.NotFound, "channel", "is %q: give one of %v", c.Channel, all)
	}
	return nil
}

var services = []fakes.Service{
	fakes.ServiceStore, fakes.ServiceDataSources, fakes.ServiceMail, fakes.ServiceFiles, fakes.ServicePayments, fakes.ServiceHTTP,
}

// switchChannel switches a channel on or off, as its operator does.
func switchChannel(b *branch, with channelWith) (moment, error) {
	if err := with.known(b); err != nil {
		return moment{}, err
	}
	b.Platform().SwitchChannel(with.Channel, with.On)
	position := "off"
	if with.On {
		position = "on"
	}
	return moment{what: "The channel " + with.Channel + " is switched " + position, isUnsaved: true}, nil
}

func crash(b *branch, _ struct{}) (moment, error) {
	return b.does(conversation.Crashes{}, moment{isDown: true})
}

func restart(b *branch, _ struct{}) (moment, error) {
	return b.does(conversation.Starts{}, moment{isStart: true})
}

type letterWith struct {
	ID string `json:"id"`
}

func retryDeadLetter(b *branch, with letterWith) (moment, error) {
	b.Platform().RetryDeadLetter(with.ID)
	return moment{what: "A dead letter is queued again: let time pass to run it", isUnsaved: true}, nil
}

func discardDeadLetter(b *branch, with letterWith) (moment, error) {
	b.Platform().DiscardDeadLetter(with.ID)
	return moment{what: "A dead letter is discarded", isUnsaved: true}, nil
}

// advanceWith is a duration, as time.ParseDuration reads it.
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

// advanceToWith is the time to advance the clock to.
type advanceToWith struct {
	To time.Time `json:"to"`
}

func advanceTo(b *branch, with advanceToWith) (moment, error) {
	by := with.To.Sub(b.Platform().Now())
	if !b.Platform().Now().Add(by).Equal(with.To) {
		return moment{}, boterr.Invalid("to", "is %v, which is too far from %v: give one within 290 years", with.To, b.Platform().Now())
	}
	return passed(b, by)
}

// next advances the clock until the next agenda is due.
func next(b *branch, _ struct{}) (moment, error) {
	due := dueAgendas(b)
	if len(due) == 0 {
		return moment{}, boterr.New(boterr.NotFound, "", "nothing is scheduled")
	}
	first := slices.MinFunc(due, time.Time.Compare)
	return passed(b, max(0, first.Sub(b.Platform().Now())))
}

// dueAgendas returns the times at which the members' open agendas run next.
func dueAgendas(b *branch) []time.Time {
	var due []time.Time
	for _, p := range b.people() {
		if !p.IsAlone() {
			continue
		}
		for _, record := range p.Actor.In(b.Platform()).Agendas() {
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

// lastYear is the last year that JSON can represent.
const lastYear = 9999

func passed(b *branch, by time.Duration) (moment, error) {
	if by < 0 {
		return moment{}, boterr.Invalid("by", "is %v: time does not go back; to undo, use the timeline", by)
	}
	if b.Platform().Now().Add(by).UTC().Year() > lastYear {
		return moment{}, boterr.Invalid("by", "is %v, which is beyond the year %d: give less", by, lastYear)
	}
	return b.does(conversation.Waits{For: by}, moment{})
}
