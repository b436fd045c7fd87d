// Command reminders is the bot of a physiotherapist: patients book an appointment, move it
// and cancel it. The bot reminds them a day before, and daily of their exercises until the
// appointment.
//
//	go run ./examples/reminders
//	go run ./examples/reminders -realtime
//
// It shows agendas: one that runs once, with newAgenda, a tag and replace; one by a pattern
// until a date; updateAgenda and deleteMemberAgenda; what an agenda tells its node, in
// AgendaMeta; and a member who has unsubscribed. The nodes of the bot are in practice.go,
// the appointments in appointments.go, and their agendas in remind.go.
//
// It plays a conversation of two weeks. That takes no time: the platform is a fake, whose
// virtual time is moved (virtual.go). With -realtime a Runtime with its scheduler runs on
// the real clock (realtime.go), and a day lasts five seconds. practice_test.go shows how
// bot logic that takes days is tested in no time.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `Usage: reminders [-realtime [-day DURATION]]

A bot that books appointments and reminds of them. It plays a conversation of two
weeks, in virtual time, which takes none.

`

// settings are what the flags say.
type settings struct {
	realtime bool
	day      time.Duration
}

// run is the program. It returns the exit code: 1 where something failed, 2 where the
// flags are wrong. To end ctx ends it in good order.
func run(ctx context.Context, args []string, out, problems io.Writer) int {
	s, err := parse(args, problems)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	err = play(ctx, s, out, problems)
	if err != nil && ctx.Err() != nil {
		_, err = fmt.Fprintln(out, "Interrupted. The scheduler has finished what it ran.")
	}
	if err != nil {
		_, _ = fmt.Fprintln(problems, "reminders:", err)
		return 1
	}
	return 0
}

// parse reads the flags. What is wrong with them, and the help, is printed.
func parse(args []string, problems io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("reminders", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.Usage = func() {
		_, _ = io.WriteString(problems, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&s.realtime, "realtime", false, "run on the real clock, until the conversation ends or an interrupt comes")
	flags.DurationVar(&s.day, "day", 5*time.Second, "how long a day lasts with -realtime: some seconds that divide a minute")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	return s, s.check(flags, problems)
}

// check refuses what would be ignored, and days that no pattern can tell apart.
func (s settings) check(flags *flag.FlagSet, problems io.Writer) error {
	isDayGiven := false
	flags.Visit(func(f *flag.Flag) { isDayGiven = isDayGiven || f.Name == "day" })
	var problem string
	switch {
	case flags.NArg() > 0:
		problem = fmt.Sprintf("%q is no flag, and there are no arguments", flags.Arg(0))
	case isDayGiven && !s.realtime:
		problem = "-day is for -realtime: in virtual time a day is a day"
	case s.day < time.Second || s.day%time.Second != 0 || time.Minute%s.day != 0:
		problem = fmt.Sprintf("-day is %v, and must be some seconds that divide a minute, such as 5s or 30s", s.day)
	default:
		return nil
	}
	_, _ = fmt.Fprintln(problems, "reminders: "+problem)
	return errors.New(problem)
}

// play plays the conversation in virtual or in real time.
func play(ctx context.Context, s settings, out, problems io.Writer) error {
	transcript := &Transcript{Out: out}
	if s.realtime {
		return playInRealTime(ctx, s.day, transcript, slog.New(slog.NewTextHandler(problems, nil)))
	}
	return playInVirtualTime(transcript) //nolint:contextcheck // A fake platform takes none: nothing in it waits.
}
