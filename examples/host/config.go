package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/outbound"
)

// config is the configuration of the service. It holds secrets only as channel.Secret, which does not print.
type config struct {
	listen      string
	store       string
	file        string
	mongoURI    channel.Secret
	allow       []string
	remindAfter time.Duration
	stopWithin  time.Duration
	// takeOverAfter is the time after which other processes take over the leases of one that does not renew
	// them.
	takeOverAfter time.Duration
	maxPending    int
	// adminToken lets an operator see the records, none without it.
	adminToken channel.Secret
	logLevel   slog.Level
	// channels are the channels of the file, and with demo the channel of demo.go.
	channels []channelSettings
	demo     bool
	// now is the clock.
	now func() time.Time
}

const usage = `Usage: host [flags]

A bot that books tables, as an HTTP service: POST /inbound takes signed webhooks,
/healthz, /readyz and /metrics tell how it is.

Each flag is also an environment variable, such as HOST_REMIND_AFTER; the flag wins.
Secrets come from the environment alone:
  HOST_ADMIN_TOKEN lets an operator see members, agendas and requests for a person,
  and see, retry and discard dead letters, under /admin/; without it there is no
  such path
  HOST_MONGO_URI is the address of the MongoDB database of -store mongodb, such as
  mongodb://localhost:27017/bots
  the variable that a channel names as secretVariable holds its secret, at least 16
  bytes; several with spaces between, the newest first, while one replaces another

`

// parse reads flags and environment, and prints the help. Its error tells all that is
// wrong, one line each.
func parse(args []string, lookup func(string) (string, bool), help io.Writer) (config, error) {
	c := config{now: time.Now}
	var channelsFile, allow string
	flags := flag.NewFlagSet("host", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // The caller prints what is wrong.
	if uri, isSet := lookup(mongoVariable); isSet {
		c.mongoURI = channel.NewSecret(uri)
	}
	if token, isSet := lookup(adminVariable); isSet {
		c.adminToken = channel.NewSecret(token)
	}
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8080", "the `address` to listen on")
	flags.StringVar(&c.store, "store", storeBolt, "where records are kept: bolt or mongodb")
	flags.StringVar(&c.file, "file", "bots.db", "the file of the bolt store")
	flags.StringVar(&channelsFile, "channels", "", "the JSON `file` of the channels, see channels.json")
	flags.BoolVar(&c.demo, "demo", false, "add a channel whose messages are printed; its secret is in "+demoVariable)
	flags.StringVar(&allow, "allow", "", "`hosts` of your own network that messages may be posted to, with commas between")
	flags.DurationVar(&c.remindAfter, "remind-after", 15*time.Minute, "when the bot reminds of a table that is not confirmed")
	flags.DurationVar(&c.stopWithin, "stop-within", 20*time.Second, "how long runs may go on after a signal to stop")
	flags.IntVar(&c.maxPending, "max-pending", 100_000, "how many messages may wait; beyond it senders are told to come again")
	flags.DurationVar(&c.takeOverAfter, "take-over-after", 30*time.Second,
		"after which time another process takes over what one that died was at")
	flags.TextVar(&c.logLevel, "log-level", slog.LevelInfo, "the least `level` that is logged: debug, info, warn or error")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(help, usage)
			flags.SetOutput(help)
			flags.PrintDefaults()
		}
		return c, err
	}
	problems := []error{fromEnvironment(flags, lookup)}
	if flags.NArg() > 0 {
		problems = append(problems, fmt.Errorf("%q is no flag, and there are no arguments: remove it", flags.Arg(0)))
	}
	if allow != "" {
		c.allow = strings.Split(allow, ",")
	}
	var others []channelSettings
	if c.demo {
		others = append(others, demoChannel)
	}
	var err error
	c.channels, err = readChannels(channelsFile, lookup, others...)
	problems = append(problems, err, c.check())
	return c, errors.Join(problems...)
}

// fromEnvironment sets the flags that were not given from the variables of their names.
func fromEnvironment(flags *flag.FlagSet, lookup func(string) (string, bool)) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var problems []error
	flags.VisitAll(func(f *flag.Flag) {
		variable := "HOST_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, isSet := lookup(variable)
		if !isSet || given[f.Name] {
			return
		}
		if err := f.Value.Set(value); err != nil {
			problems = append(problems, fmt.Errorf("%s is %q, which is wrong (%w): -%s is %s", variable, value, err, f.Name, f.Usage))
		}
	})
	return errors.Join(problems...)
}

// check returns an error for a value that is not valid.
func (c config) check() error {
	var problems []error
	switch {
	case c.store != storeBolt && c.store != storeMongo:
		problems = append(problems, fmt.Errorf("-store is %q: make it bolt or mongodb", c.store))
	case c.store == storeBolt && c.file == "":
		problems = append(problems, errors.New("-file is empty: name the file of the store, such as bots.db"))
	case c.store == storeMongo && c.mongoURI.Reveal() == "":
		problems = append(problems, errors.New("-store is mongodb: set "+mongoVariable+" to the address of the database"))
	}
	for _, number := range []struct {
		flag  string
		value int64
	}{
		{"-remind-after", int64(c.remindAfter)},
		{"-stop-within", int64(c.stopWithin)},
		{"-take-over-after", int64(c.takeOverAfter)},
		{"-max-pending", int64(c.maxPending)},
	} {
		if number.value <= 0 {
			problems = append(problems, errors.New(number.flag+" must be more than nothing"))
		}
	}
	if token := c.adminToken.Reveal(); token != "" && len(token) < minTokenBytes {
		problems = append(problems, fmt.Errorf("%s has %d bytes and must have at least %d; make one at random",
			adminVariable, len(token), minTokenBytes))
	}
	if _, err := outbound.New(outbound.Config{Allow: c.allow}); err != nil {
		problems = append(problems, fmt.Errorf("-allow: %w", err))
	}
	return errors.Join(problems...)
}
