package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/member"
)

// Usual returns the bot of a real practice, with a reminder a day before an appointment, and reminders of the
// exercises at eight in the morning.
func Usual() Practice { return Practice{Notice: 24 * time.Hour, Exercises: "0 8 * * *"} }

// monday returns the beginning of the conversation in virtual time.
func monday() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

// openPractice returns a fake platform with the practice and its free times.
func openPractice(options ...fakes.Option) *fakes.Platform {
	platform := fakes.New(options...)
	platform.Handle(Usual().Nodes()...)
	platform.AddData(slotsID, slotsAt(openings(platform.Now(), 24*time.Hour))...)
	return platform
}

// talk is a conversation with the bot, in virtual time.
func talk(ctx context.Context, in io.Reader, out io.Writer) error {
	platform := openPractice(fakes.StartAt(monday()))
	return console.Console{
		Platform: platform, Members: []*fakes.Actor{platform.AddMember(member.Member{FirstName: "Ada"})},
		Test: console.Test{Platform: "openPractice(fakes.For(t), fakes.StartAt(monday()))"}, In: in, Out: out,
	}.Run(ctx)
}

// playInVirtualTime plays the conversation, and takes no time.
func playInVirtualTime(transcript *Transcript) error {
	platform := openPractice(fakes.StartAt(monday()), fakes.Config(func(c *botctx.Config) {
		c.Connectors[channel.Webchat] = printer{transcript, c.Now}
	}))
	patients := map[string]*fakes.Actor{}
	for _, name := range []string{"Ada", "Bob"} {
		patients[name] = platform.AddMember(member.Member{FirstName: name, ExternalID: name})
	}
	for _, step := range conversation {
		if step.days > 0 {
			if err := platform.TryAdvance(time.Duration(step.days) * 24 * time.Hour); err != nil {
				return err
			}
			continue
		}
		if err := transcript.Print(platform.Now(), step.patient, "bot", step.says); err != nil {
			return err
		}
		if err := patients[step.patient].TrySays(step.says); err != nil {
			return err
		}
	}
	return nil
}

// step is a part of the conversation: a patient says something, or days pass.
type step struct {
	patient, says string
	days          int
}

var conversation = []step{
	{patient: "Ada", says: "Hello!"},
	{patient: "Bob", says: "book"},
	{patient: "Bob", says: "1"},
	{patient: "Ada", says: "book"},
	{patient: "Ada", says: "1"},
	{patient: "Bob", says: "stop"}, // He gets no more messages from here on.
	{days: 2},
	{patient: "Ada", says: "move"},
	{patient: "Ada", says: "1"},
	{days: 6}, // The day before comes, then the appointment, which ends the exercises.
	{patient: "Bob", says: "start"},
	{patient: "Bob", says: "book"},
	{patient: "Bob", says: "2"},
	{days: 1},
	{patient: "Bob", says: "cancel"},
	{days: 4}, // No more messages come.
	{patient: "Ada", says: "cancel"},
}

// openings returns the available times after a time, for days of the given length.
func openings(after time.Time, day time.Duration) []time.Time {
	var times []time.Time
	for _, hours := range []int64{73, 101, 169, 265, 293} {
		times = append(times, after.Add(time.Duration(int64(day)*hours/24)))
	}
	return times
}

// Transcript prints the conversation. It is safe for concurrent use.
type Transcript struct {
	Out io.Writer
	mu  sync.Mutex
}

// Print prints a message with its time. Messages cannot control the terminal.
func (t *Transcript) Print(at time.Time, from, to, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := boterr.Visible(fmt.Sprintf("%s  %s > %s: ", at.UTC().Format("Mon _2 Jan 15:04:05"), from, to))
	_, err := fmt.Fprintln(t.Out, head+strings.ReplaceAll(boterr.Visible(text), "\n", "\n"+strings.Repeat(" ", len(head))))
	return err
}
