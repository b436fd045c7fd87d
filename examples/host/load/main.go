// Command load lets members write to a host without a pause, and tells how it answered.
//
//	go -C examples/host run ./load -senders 32 -for 1m
//
// sends to the demo channel of the host that runs at HOST_LISTEN. With -host it starts the program of
// that path by itself, and kills it -kills times; then it is the platform and the chat at once, and
// compares what was accepted with what the bot has answered.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// options are what the flags say.
type options struct {
	senders  int
	duration time.Duration
	// host is the program of the host, kills how often it is killed.
	host          string
	kills         int
	seed          uint64
	store         string
	takeOverAfter time.Duration
	maxPending    int
}

func main() {
	var o options
	flag.IntVar(&o.senders, "senders", 32, "how many send at once")
	flag.DurationVar(&o.duration, "for", time.Minute, "how long they send")
	flag.StringVar(&o.host, "host", "", "the `program` of the host to start; without it one runs already")
	flag.IntVar(&o.kills, "kills", 0, "how often the started host is killed, at random moments")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "chooses the moments") //nolint:gosec // Moments need no secrecy.
	flag.StringVar(&o.store, "store", "bolt", "the store of the started host: bolt or mongodb, at HOST_MONGO_URI")
	flag.DurationVar(&o.takeOverAfter, "take-over-after", 5*time.Second, "that of the started host")
	flag.IntVar(&o.maxPending, "max-pending", 2000, "that of the started host")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run sends to a host that runs, or to one that it starts.
func run(ctx context.Context, o options) error {
	switch {
	case o.senders <= 0 || o.duration <= 0 || o.kills < 0:
		return errors.New("-senders and -for must be more than nothing, -kills not less")
	case o.host != "":
		return runStarted(ctx, o)
	case o.kills > 0:
		return errors.New("-kills needs -host, the program to start and kill")
	default:
		return runDemo(ctx, o)
	}
}
