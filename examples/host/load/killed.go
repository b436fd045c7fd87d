package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	random "math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/channel"
)

// The channel of the started host, and the variable of its secret.
const (
	channelID      = "load"
	secretVariable = "HOST_LOAD_SECRET"
)

// membersPerSender is how many members a sender speaks for.
const membersPerSender = 10

// runStarted starts a host, sends to it while it is killed, and compares what was accepted with what
// was answered.
func runStarted(ctx context.Context, o options) (err error) {
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	secret := channel.NewSecret(rand.Text())
	chat, err := startChat(ctx, secret)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chat.server.Close()) }()
	host, err := newProcess(o, folder, chat.url, secret)
	if err != nil {
		return err
	}
	if err := host.start(ctx); err != nil {
		return err
	}
	s := &siege{
		options: o, host: host, chat: chat, run: rand.Text(), accepted: map[string]int{},
		platform: newPlatform(host.address, secret, o.senders),
	}
	if err := s.send(ctx); err != nil {
		return errors.Join(err, host.kill())
	}
	s.awaitAnswers(ctx)
	err = host.stop()
	summary := s.compare()
	fmt.Print(summary)
	return errors.Join(err, summary.check())
}

// newProcess returns the host, with its one channel.
func newProcess(o options, folder, chatURL string, secret channel.Secret) (*process, error) {
	channels, err := json.Marshal([]map[string]string{{
		"app": "bistro", "id": channelID, "url": chatURL, "secretVariable": secretVariable,
	}})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "channels.json")
	if err := os.WriteFile(file, channels, 0o600); err != nil {
		return nil, err
	}
	return &process{
		program: o.host,
		args: []string{
			"-listen", "127.0.0.1:0", "-store", o.store, "-file", filepath.Join(folder, "bots.db"), "-channels", file,
			"-allow", "127.0.0.1", "-remind-after", "24h", "-max-pending", strconv.Itoa(o.maxPending), "-take-over-after", o.takeOverAfter.String(),
		},
		environment: []string{secretVariable + "=" + secret.Reveal()},
	}, nil
}

// siege is a host under load that is killed.
type siege struct {
	options

	host     *process
	chat     *chat
	platform *platform
	// run is in the names of members and messages, which are new in each.
	run string

	mutex sync.Mutex
	// accepted is how many messages of each member were answered 200, from the first on.
	accepted map[string]int
	repeated int
	refused  int
}

// send lets all senders send for the time, while the host is killed.
func (s *siege) send(ctx context.Context) error {
	sending, stop := context.WithTimeout(ctx, s.duration)
	defer stop()
	var group sync.WaitGroup
	giveUp, abandon := context.WithCancel(ctx)
	defer abandon()
	for sender := range s.senders {
		group.Go(func() { s.sendAs(sending, giveUp, sender) })
	}
	err := s.killAndRestart(ctx)
	if err != nil {
		stop()
		abandon() // Nobody listens any more.
	}
	group.Wait()
	return err
}

// killAndRestart kills the host at a random moment of each of as many parts of the time as there are
// kills.
func (s *siege) killAndRestart(ctx context.Context) error {
	fmt.Printf("seed %d\n", s.seed)
	source := random.New(random.NewPCG(s.seed, 0)) //nolint:gosec // Moments need no secrecy.
	began := time.Now()
	for i := range s.kills {
		part := s.duration / time.Duration(s.kills)
		moment := time.Duration(i)*part + time.Duration(source.Int64N(int64(part)))
		pause(ctx, moment-time.Since(began))
		if err := s.host.kill(); err != nil {
			return err
		}
		if err := s.host.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sendAs sends messages of a sender's members in turn until sending ends. What is under way then is
// sent until it is accepted.
func (s *siege) sendAs(sending, giveUp context.Context, sender int) {
	for i := 0; sending.Err() == nil && i < mostWishes; i++ {
		for m := range membersPerSender {
			from := fmt.Sprintf("%s-%d-%d", s.run, sender, m)
			s.deliver(giveUp, message{channel: channelID, id: fmt.Sprintf("%s-%d", from, i), from: from, text: wishFor(i)})
			if giveUp.Err() != nil {
				return
			}
		}
	}
}

// pauseBeforeRepeating is how long a platform waits before it sends again what was not answered 200.
const pauseBeforeRepeating = 20 * time.Millisecond

// deliver sends a message until it is accepted, as platforms do.
func (s *siege) deliver(ctx context.Context, m message) {
	for ctx.Err() == nil {
		status, err := s.platform.post(ctx, m)
		isAccepted := err == nil && strings.HasPrefix(status, "200 ")
		s.note(m.from, isAccepted, err == nil)
		if isAccepted {
			return
		}
		pause(ctx, pauseBeforeRepeating)
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}

// note counts what a message was answered.
func (s *siege) note(from string, isAccepted, isAnswered bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case isAccepted:
		s.accepted[from]++
	case isAnswered:
		s.refused++
	default:
		s.repeated++
	}
}

// patience is how long nothing may be heard while answers are missing, pauseBetweenLooks after which
// time they are looked for again.
const (
	patience          = 2 * time.Minute
	pauseBetweenLooks = 100 * time.Millisecond
)

// awaitAnswers waits until there are as many answers as accepted messages, or nothing has come for a
// long time.
func (s *siege) awaitAnswers(ctx context.Context) {
	heard, since := s.chat.all(), time.Now()
	for s.compare().lost > 0 && time.Since(since) < patience {
		pause(ctx, pauseBetweenLooks)
		if now := s.chat.all(); now > heard {
			heard, since = now, time.Now()
		}
	}
}
