// Command concierge is a concierge for a city: a bot on the SDK that finds places,
// knows what is near, and takes bookings, in a chat on the terminal. It also replays
// recorded conversations.
//
//	go -C examples run ./concierge
//	go -C examples run ./concierge -places FILE
//	go -C examples run ./concierge -dialogues FILE
//
// It shows a bot made of nodes: bot.go lists them, with what guests may say at any time,
// what the bot asks, and the answers to that. What they do is in find.go and book.go,
// and what the bot understands of a message in understand.go. replay.go is a bot of one
// function, that of recorded conversations. host.go is what a host needs around a bot.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/botctx/go-sdk/examples/program"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const usage = `Usage: concierge [-places FILE [-lnglat]]
       concierge -dialogues FILE

A concierge for a city: a bot that finds places, knows what is near and takes
bookings. Without -dialogues it chats: it answers each line of standard input until
the input ends or a line says bye. Where there is no input at all, it shows a short
demonstration. At the end it prints a summary.

`

// settings are what the flags say.
type settings struct {
	places, dialogues string
	order             PairOrder
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	s := settings{order: LatitudeFirst}
	return program.Program{
		Name: "concierge", Usage: usage, Flags: s.declare, Check: s.check,
		Do: func() error { return start(ctx, s, in, out) },
	}.Run(args, problems)
}

// declare declares the flags.
func (s *settings) declare(flags *flag.FlagSet) {
	flags.StringVar(&s.places, "places", "", "`FILE` with the city's places: a JSON array of objects. Of their columns, name,\n"+
		"location and seats have a meaning; \"?\" is not known. The default is a small city of its own.")
	flags.StringVar(&s.dialogues, "dialogues", "", "`FILE` with recorded conversations to replay, one JSON object on each line")
	flags.BoolFunc("lnglat", "read a location of two numbers as [longitude, latitude]. The default is [latitude, longitude],\n"+
		"unless a first number beyond 90 shows otherwise. GeoJSON points have the longitude first anyway.",
		func(string) error { s.order = LongitudeFirst; return nil })
}

// check refuses flags that would be ignored.
func (s *settings) check(*flag.FlagSet) error {
	switch {
	case s.places != "" && s.dialogues != "":
		return errors.New("-places and -dialogues do not go together: recorded conversations bring their own data")
	case s.order == LongitudeFirst && s.places == "":
		return errors.New("-lnglat says how to read the FILE of -places, which is missing")
	default:
		return nil
	}
}

// start does what the settings say, and prints the summary.
func start(ctx context.Context, s settings, in io.Reader, out io.Writer) error {
	began, tally := time.Now(), NewTally()
	var err error
	if s.dialogues != "" {
		err = replay(ctx, s, tally, out)
	} else {
		err = chat(ctx, s, tally, in, out)
	}
	if err != nil {
		return err
	}
	return tally.Print(out, time.Since(began))
}

// replay replays the conversations of a file.
func replay(ctx context.Context, s settings, tally *Tally, out io.Writer) error {
	file, err := os.Open(s.dialogues)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // It was only read.
	dialogues, err := ReadDialogues(file)
	if err == nil && len(dialogues) == 0 {
		err = errors.New("there is no conversation in it")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.dialogues, err)
	}
	host, err := NewHost(ctx, out, tally, Narrate(out))
	if err != nil {
		return err
	}
	return ReplayAll(ctx, host, out, dialogues)
}

// chat loads the places, and chats about them.
func chat(ctx context.Context, s settings, tally *Tally, in io.Reader, out io.Writer) error {
	host, err := NewHost(ctx, out, tally)
	if err != nil {
		return err
	}
	places, err := load(ctx, s, host)
	if err != nil {
		return err
	}
	if err := host.Handle(Concierge{Columns: places.Columns}.Nodes()...); err != nil {
		return err
	}
	if _, err := fmt.Fprint(out, places.welcome()); err != nil {
		return err
	}
	spoke, err := Chat{Host: host, Out: out, Prompt: promptFor(in)}.Hold(ctx, in)
	if err != nil || spoke {
		return err
	}
	if _, err := fmt.Fprintln(out, "\nNothing was said, so here is a demonstration:"); err != nil {
		return err
	}
	_, err = Chat{Host: host, Out: out}.Hold(ctx, strings.NewReader(demonstration))
	return err
}

// load reads the places and saves them in their data source.
func load(ctx context.Context, s settings, host *Host) (Places, error) {
	text, name := ownPlaces, "the city's own places"
	if s.places != "" {
		var err error
		if text, err = os.ReadFile(s.places); err != nil {
			return Places{}, err
		}
		name = s.places
	}
	places, err := ReadPlaces(text, s.order)
	if err == nil {
		err = places.Save(ctx, host.Operations())
	}
	if err != nil {
		return Places{}, fmt.Errorf("%s: %w", name, err)
	}
	return places, nil
}

// welcome says what was loaded, and how its locations were read.
func (p Places) welcome() string {
	text := fmt.Sprintf("A concierge with %d places. Say \"help\" to see what it understands, and \"bye\" to leave.\n", len(p.Entries))
	if p.Pairs != "" {
		text += fmt.Sprintf("Locations of two numbers were read as [%s].\n", p.Pairs)
	}
	return text
}

// promptFor returns the prompt for a person at a terminal, and none for other input.
func promptFor(in io.Reader) string {
	file, isFile := in.(*os.File)
	if !isFile {
		return ""
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return ""
	}
	return "> "
}
