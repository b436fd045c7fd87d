package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/outbound"
)

// config is the configuration of the service. It holds secrets only as channel.Secret, which does not print.
type config struct {
	listen string
	// show is a collection to print instead of serving, or "" for none.
	show string
	// isCheck is true if the program only checks whether a running service is alive.
	isCheck bool
	// file is the file of the records, unless postgres or mongo is the address of a database.
	file            string
	postgres, mongo channel.Secret
	// files is the bucket for the files of chats, or "" for none, and url the public address of the service.
	files, url string
	// isTrial is true if there are no settings.
	isTrial bool

	allow       []string
	remindAfter time.Duration
	stopWithin  time.Duration
	// takeOverAfter is the time after which other processes take over the leases of a process that does not
	// renew them.
	takeOverAfter time.Duration
	maxPending    int
	// adminToken gives operators access to the records. Without it there is no access.
	adminToken channel.Secret
	// agents are the tokens of the desk's agents, by name.
	agents   map[string]channel.Secret
	logLevel slog.Level
	// channels are the channels of the file, and with demo the channel of trial.go.
	channels []channelSettings
	demo     bool
	// applications are the host's applications on platforms, which report for all channels there.
	applications map[channel.Type]application
	// telegramToken is the token of a Telegram bot, which is then a channel. telegramURL is the address of
	// Telegram's API, or "" for the default.
	telegramToken channel.Secret
	telegramURL   string
	// now is the clock.
	now func() time.Time
}

const usage = `Usage: host [flags]

A bot that books tables, as an HTTP service: POST /inbound takes signed webhooks,
/healthz, /readyz and /metrics tell how it is.

Without flags and variables it is for a try on this machine: it prints the addresses
of a page with a chat, a desk where an agent answers, and the operators' page.

Each flag is also an environment variable, such as HOST_REMIND_AFTER; the flag wins.
Records are in a file, which is for one process, or with -postgres or -mongodb in a
database, which any number of processes share.
Secrets come from the environment alone, as should an address with a password:
  HOST_TELEGRAM_TOKEN is the token of a Telegram bot, from @BotFather; the bot then
  talks there, too, without a public address
  HOST_ADMIN_TOKEN lets an operator see members, agendas and requests for a person,
  and see, retry and discard dead letters, under /admin/; without it there is no
  such path
  HOST_AGENTS has the agents who answer on the desk under /desk/, a channel of type
  desk, as names with their tokens: grace:TOKEN hedy:TOKEN
  the variable that a channel names as secretVariable holds its secret, at least 16
  bytes; several with spaces between, the newest first, while one replaces another
  the variable that a channel of a platform names as tokenVariable holds its token,
  and the one that it names as infoVariable all its credentials, as JSON
  HOST_ALPHA_APP_SECRET, HOST_ALPHA_VERIFY_TOKEN and HOST_ALPHA_APP_ID belong to the
  application of channels of type alpha, whose reports arrive at /alpha; and
  HOST_BRAVO_APP_SECRET and HOST_BRAVO_VERIFY_TOKEN to that of type bravo, at /bravo;
  activities for channels of type hotel arrive at /hotel

`

// flags returns the flags, which set the configuration, the file of the channels and the hosts to allow.
func (c *config) flags(channelsFile, allow *string) *flag.FlagSet {
	flags := flag.NewFlagSet("host", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // The caller prints the errors.
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8080", "the `address` to listen on")
	flags.StringVar(&c.file, "file", "bots.db", "the `file` of the records")
	flags.Func("postgres", "the `address` of a PostgreSQL database for the records, such as postgres://bots@db.example/bots",
		secret(&c.postgres))
	flags.Func("mongodb", "the `address` of a MongoDB database for the records, such as mongodb://db.example/bots", secret(&c.mongo))
	flags.StringVar(&c.show, "show", "", "print a `collection` of the file as lines of JSON, such as members, and end")
	flags.BoolVar(&c.isCheck, "check", false, "ask the service that runs at -listen for /healthz, and end: for a container's health check")
	flags.StringVar(&c.files, "files", "", "the `bucket` for the files of chats, such as file:///var/lib/bots/files?create_dir=true")
	flags.StringVar(&c.url, "url", "", "the public `address` of the service, such as https://bot.example; files need it")
	flags.StringVar(channelsFile, "channels", "", "the JSON `file` of the channels, see channels.json")
	flags.BoolVar(&c.demo, "demo", false, "add a channel whose messages are printed; its secret is in "+demoVariable)
	flags.StringVar(allow, "allow", "", "`hosts` of your own network that messages may be posted to, with commas between")
	flags.DurationVar(&c.remindAfter, "remind-after", 15*time.Minute, "when the bot reminds of a table that is not confirmed")
	flags.DurationVar(&c.stopWithin, "stop-within", 20*time.Second, "how long runs may continue after a signal to stop")
	flags.IntVar(&c.maxPending, "max-pending", 100_000, "how many messages may wait; beyond it senders are told to come again")
	flags.DurationVar(&c.takeOverAfter, "take-over-after", 30*time.Second,
		"after which time another process takes over what one that died was at")
	flags.TextVar(&c.logLevel, "log-level", slog.LevelInfo, "the least `level` that is logged: debug, info, warn or error")
	return flags
}

// parse reads flags and environment, and prints the help. Its error lists all problems, one per line.
func parse(args []string, lookup func(string) (string, bool), help io.Writer) (config, error) {
	c := config{now: time.Now}
	isConfigured := len(args) > 0
	lookup = noting(lookup, &isConfigured)
	var channelsFile, allow string
	flags := c.flags(&channelsFile, &allow)
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
		problems = append(problems, fmt.Errorf("%q is not a flag, and the command has no arguments: remove it", flags.Arg(0)))
	}
	if c.isCheck { // It needs no channels and no secrets.
		return c, errors.Join(problems...)
	}
	if allow != "" {
		c.allow = strings.Split(allow, ",")
	}
	var others []channelSettings
	if c.demo {
		others = append(others, demoChannel)
	}
	problems = append(problems, c.readSecrets(lookup))
	var err error
	c.channels, err = readChannels(channelsFile, lookup, others...)
	if !isConfigured {
		c.try()
	}
	problems = append(problems, err, c.check(), c.checkApplications())
	return c, errors.Join(problems...)
}

// readSecrets reads the secrets that belong to no channel.
func (c *config) readSecrets(lookup func(string) (string, bool)) (err error) {
	read := func(name string) channel.Secret {
		value, _ := lookup(name)
		return channel.NewSecret(value)
	}
	c.adminToken, c.telegramToken = read(adminVariable), read(telegramVariable)
	c.applications = applicationsIn(lookup)
	c.agents, err = readAgents(read(agentsVariable).Reveal())
	return err
}

// fromEnvironment sets missing flags from the environment variables of their names.
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
			problems = append(problems, fmt.Errorf("%s is %q, which is invalid (%w): -%s is %s", variable, value, err, f.Name, f.Usage))
		}
	})
	return errors.Join(problems...)
}

// checkStore returns an error for invalid settings of the store.
func (c config) checkStore() error {
	switch kind := c.storeKind(); {
	case c.postgres.Reveal() != "" && c.mongo.Reveal() != "":
		return errors.New("-postgres and -mongodb are both set: remove one, because all records are in one database")
	case kind == "sqlite" && c.file == "":
		return errors.New("-file is empty: name the file of the records, such as bots.db")
	case kind != "sqlite" && c.show != "":
		return errors.New("-show needs -file: for a database use its own tools")
	default:
		return nil
	}
}

// checkAddresses returns an error for an invalid bucket or public address.
func (c config) checkAddresses() error {
	bucket, err := url.Parse(c.files)
	switch {
	case c.url != "" && !isWebAddress(c.url):
		return errors.New("-url is not the public address of the service: give it in full, such as https://bot.example")
	case c.files == "":
		return nil
	case err != nil || bucket.Scheme == "":
		return errors.New("-files is not the address of a bucket: give one such as file:///var/lib/bots/files?create_dir=true")
	case c.url == "":
		return errors.New("-files is set: set -url to the public address of the service, too")
	default:
		return nil
	}
}

// storeKind is the kind of the store: postgres, mongodb or sqlite.
func (c config) storeKind() string {
	switch {
	case c.postgres.Reveal() != "":
		return "postgres"
	case c.mongo.Reveal() != "":
		return "mongodb"
	default:
		return "sqlite"
	}
}

// secret returns a function that sets a secret.
func secret(to *channel.Secret) func(string) error {
	return func(text string) error {
		*to = channel.NewSecret(text)
		return nil
	}
}

func (c config) check() error {
	var problems []error
	if c.show == "" && len(c.channels) == 0 && len(c.telegramChannels()) == 0 {
		problems = append(problems, errors.New(
			"there is no channel: name a file of channels with -channels, set "+telegramVariable+", or try -demo, or no setting at all"))
	}
	problems = append(problems, c.checkStore(), c.checkAddresses())
	if has(c.channels, channel.Desk) && len(c.agents) == 0 {
		problems = append(problems, errors.New("there is a desk: set "+agentsVariable+" to its agents, such as grace:TOKEN"))
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
			problems = append(problems, errors.New(number.flag+" must be positive"))
		}
	}
	if token := c.adminToken.Reveal(); token != "" && len(token) < minTokenBytes {
		problems = append(problems, fmt.Errorf("%s has %d bytes and must have at least %d; create one from random bytes",
			adminVariable, len(token), minTokenBytes))
	}
	if _, err := outbound.New(outbound.Config{Allow: c.allow}); err != nil {
		problems = append(problems, fmt.Errorf("-allow: %w", err))
	}
	return errors.Join(problems...)
}
