package main

import (
	"context"
	"io"
	"time"

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

type virtualStage struct {
	platform   *fakes.Platform
	patients   map[string]*fakes.Actor
	names      map[string]string
	transcript *Transcript
	printed    int
}

// playInVirtualTime plays the conversation, and takes no time.
func playInVirtualTime(transcript *Transcript) error {
	platform := openPractice(fakes.StartAt(monday()))
	stage := &virtualStage{
		platform: platform, transcript: transcript,
		patients: map[string]*fakes.Actor{}, names: map[string]string{},
	}
	for _, name := range []string{"Ada", "Bob"} {
		patient := platform.AddMember(member.Member{FirstName: name})
		stage.patients[name], stage.names[patient.ID()] = patient, name
	}
	for _, step := range conversation {
		if err := stage.play(step); err != nil {
			return err
		}
	}
	return nil
}

// play carries out a step: a patient says something, or days pass.
func (s *virtualStage) play(step step) error {
	if step.days > 0 {
		if err := s.platform.TryAdvance(time.Duration(step.days) * 24 * time.Hour); err != nil {
			return err
		}
		return s.print()
	}
	if err := s.transcript.Print(s.platform.Now(), step.patient, "bot", step.says); err != nil {
		return err
	}
	if err := s.patients[step.patient].TrySays(step.says); err != nil {
		return err
	}
	return s.print()
}

// print prints the messages sent since the last call.
func (s *virtualStage) print() error {
	sent := s.platform.Sent()
	for _, message := range sent[s.printed:] {
		err := s.transcript.Print(message.SentAt, "bot", s.names[message.Member], message.Response.Text())
		if err != nil {
			return err
		}
	}
	s.printed = len(sent)
	return nil
}
