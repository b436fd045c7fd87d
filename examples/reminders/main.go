// Command reminders is the bot of a physiotherapist: patients book an appointment, move it and cancel it. The
// bot reminds them a day before, and daily of their exercises until the appointment.
//
//	go -C examples run ./reminders
//	go -C examples run ./reminders -realtime
//	go -C examples run ./reminders -talk
//
// It shows agendas: an agenda that runs once, with newAgenda, a tag and replace; one with a pattern and an end
// date; updateAgenda and deleteMemberAgenda; AgendaMeta, an agenda's data for its node; and a member who has
// unsubscribed. The nodes of the bot are in practice.go, the appointments and their agendas in
// appointments.go.
//
// It plays a conversation of two weeks. That takes no time: the platform is a fake with virtual time
// (virtual.go). With -realtime a Runtime with its scheduler runs on the real clock (realtime.go), and a day
// lasts five seconds. With -talk you are the patient, and /advance 2d moves the time. practice_test.go shows
// how to test bot logic that takes days in no time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/botctx/go-sdk/examples/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `Usage: reminders [-talk]
       reminders -realtime [-day DURATION]

A bot that books appointments and reminds of them. It plays a conversation of two
weeks, in virtual time, which takes none.

`

type settings struct {
	realtime, talk bool
	day            time.Duration
}

// run runs the program and returns the exit code. It stops gracefully when ctx ends.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	var s settings
	return program.Program{
		Name: "reminders", Usage: usage, Flags: s.declare, Check: s.check,
		Do: func() error {
			if s.talk {
				return talk(ctx, in, out)
			}
			err := play(ctx, s, out, problems)
			if err != nil && ctx.Err() != nil {
				_, err = fmt.Fprintln(out, "Interrupted. The scheduler has finished what it ran.")
			}
			return err
		},
	}.Run(args, problems)
}

func (s *settings) declare(flags *flag.FlagSet) {
	flags.BoolVar(&s.realtime, "realtime", false, "run on the real clock, until the conversation ends or an interrupt comes")
	flags.BoolVar(&s.talk, "talk", false, "talk to the bot yourself, in virtual time: /advance 2d lets it pass")
	flags.DurationVar(&s.day, "day", 5*time.Second, "how long a day lasts with -realtime: some seconds that divide a minute")
}

// check refuses flags that would be ignored, and days that no pattern can express.
func (s *settings) check(flags *flag.FlagSet) error {
	isDayGiven := false
	flags.Visit(func(f *flag.Flag) { isDayGiven = isDayGiven || f.Name == "day" })
	switch {
	case s.talk && s.realtime:
		return errors.New("-talk and -realtime cannot be combined: a talk uses virtual time")
	case isDayGiven && !s.realtime:
		return errors.New("-day needs -realtime: in virtual time a day lasts a day")
	case s.day < time.Second || s.day%time.Second != 0 || time.Minute%s.day != 0:
		return fmt.Errorf("-day is %v; it must be a number of seconds that divides a minute, such as 5s or 30s", s.day)
	default:
		return nil
	}
}

// play plays the conversation in virtual or in real time.
func play(ctx context.Context, s settings, out, problems io.Writer) error {
	transcript := &Transcript{Out: out}
	if s.realtime {
		return playInRealTime(ctx, s.day, transcript, slog.New(slog.NewTextHandler(problems, nil)))
	}
	return playInVirtualTime(transcript)
}
