package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// turning runs turns of a bot for a slice of time. It returns the time of one turn and the last reply.
type turning func(slice time.Duration) (timing, string, error)

// printTurns writes a table that compares this module's Runtime with other frameworks. In a turn, an event arrives,
// one of 10,000 entries and the member's record are changed, and a reply is sent.
func printTurns(ctx context.Context, out *strings.Builder, s settings) error {
	ours, err := ownTurns(ctx)
	if err != nil {
		return err
	}
	peers := startPeers(ctx, out)
	defer func() {
		for _, p := range peers {
			p.close()
		}
	}()
	names, contestants := []string{"botctx"}, []turning{ours}
	for _, p := range peers {
		names, contestants = append(names, p.framework), append(contestants, p.turns)
	}
	timings, err := alternate(contestants, s)
	if err != nil {
		return err
	}
	fmt.Fprint(out, "| a turn | time | of botctx |\n|---|---|---|\n")
	for i, name := range names {
		fmt.Fprintf(out, "| %s | %s | %s |\n", name, timings[i], shortNumber(float64(timings[i]/timings[0])))
	}
	return nil
}

// warmUp is the factor by which the first slice is longer than the others. The result of the first slice is not
// counted, because just-in-time compilers need this time.
const warmUp = 10

// alternate runs each contestant once per round and returns the medians.
func alternate(contestants []turning, s settings) ([]timing, error) {
	taken := make([][]timing, len(contestants))
	for round := range s.rounds + 1 {
		for i, turns := range contestants {
			slice := s.slice
			if round == 0 {
				slice *= warmUp
			}
			one, _, err := turns(slice)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				taken[i] = append(taken[i], one)
			}
		}
	}
	medians := make([]timing, len(contestants))
	for i := range taken {
		slices.Sort(taken[i])
		medians[i] = taken[i][len(taken[i])/2]
	}
	return medians, nil
}

// entryCount is the number of entries in the data source. It must be the same in turns.mjs.
const entryCount = 10_000

// entryAt returns an entry with eight fields, the same as in turns.mjs.
func entryAt(i int) document.Object {
	areas := []string{"north", "east", "south", "west", "centre"}
	return document.O(
		"_id", fmt.Sprint("e", i), "name", fmt.Sprint("place ", i), "area", areas[i%len(areas)], "price", i*7919%20,
		"seats", i%12, "taken", false, "tags", document.A("a", i%3), "rating", float64(i%50)/10,
	)
}

// ownTurns returns a function that runs turns of a Runtime on memstore, set up as in a host.
//
//nolint:contextcheck // The setup of the platform takes no context.
func ownTurns(ctx context.Context) (turning, error) {
	platform := fakes.New()
	entries := make([]document.Object, entryCount)
	for i := range entries {
		entries[i] = entryAt(i)
	}
	platform.AddData("places", entries...)
	ada := platform.AddMember(member.Member{FirstName: "Ada"})
	connector := &lastReply{}
	runtime, err := botctx.New(botctx.Config{
		Store:      platform.Runtime().Env().Store,
		Connectors: map[channel.Type]send.Connector{channel.Webchat: connector},
	})
	if err != nil {
		return nil, err
	}
	runtime.HandleFunc(countSeats)
	event := botctx.Inbound{App: ada.Scope().App, Channel: ada.Scope().Channel, Event: send.MessageEvent{
		From: ada.ExternalID(), Type: send.TypeText, Data: document.O("text", "seats?"),
	}}
	work := &turn{do: func(int) error { return runtime.Receive(ctx, event) }}
	return func(slice time.Duration) (timing, string, error) {
		work.timings = work.timings[:0]
		if err := work.take(slice); err != nil {
			return 0, "", err
		}
		return work.timings[0], connector.text, nil
	}, nil
}

// countSeats is the bot's logic in a turn.
func countSeats(ctx context.Context, bot *botctx.Context) error {
	entry, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "places", Filter: document.O(record.FieldID, "e77"), Patch: document.Inc("seats", 1),
		Option: datasource.FindAndModifyOption{New: true},
	})
	if err != nil {
		return err
	}
	changed, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
		Filter: document.O(record.FieldID, bot.Member.ID),
		Patch:  document.Set("meta.seats", document.Get(entry.Value, "seats", 0)),
		Option: member.FindAndModifyOption{New: true},
	})
	if err != nil {
		return err
	}
	bot.Member = changed.Member
	return bot.Reply(ctx, send.Template("{{firstName}}, there are {{meta.seats}} seats."))
}

// lastReply is a connector that stores the last message.
type lastReply struct{ text string }

func (l *lastReply) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	l.text = document.Get(message.Response.Data(), "text", "")
	return send.Delivery{}, nil
}

// frameworks are the contestants in turns.mjs.
var frameworks = []string{"botbuilder", "grammy"}

// Reasons why no framework can be started.
var (
	errNoNode     = errors.New("node is not installed: install Node.js 20 or later")
	errNoPackages = errors.New("its packages are missing: run npm ci --ignore-scripts in internal/dev")
)

// process is a framework that runs in its own process.
type process struct {
	framework string
	in        io.WriteCloser
	out       *bufio.Reader
	wait      func() error
}

// startPeers starts the frameworks. It prints which of them this machine cannot run.
func startPeers(ctx context.Context, out *strings.Builder) (started []*process) {
	for _, framework := range frameworks {
		p, err := startPeer(ctx, framework)
		if err != nil {
			fmt.Fprintf(out, "%s is left out: %v.\n\n", framework, err)
			continue
		}
		started = append(started, p)
	}
	return started
}

// startPeer starts a framework. It returns errNoNode or errNoPackages if something is not installed.
func startPeer(ctx context.Context, framework string) (*process, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errNoNode
	}
	if _, err := os.Stat(filepath.Join("..", "node_modules")); errors.Is(err, fs.ErrNotExist) {
		return nil, errNoPackages
	}
	//nolint:gosec // It is one of the frameworks above.
	command := exec.CommandContext(ctx, node, "turns.mjs", framework)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &process{framework: framework, in: in, out: bufio.NewReader(out), wait: command.Wait}, nil
}

// turns runs turns of the framework, like a turning.
func (p *process) turns(slice time.Duration) (timing, string, error) {
	if _, err := fmt.Fprintln(p.in, slice.Milliseconds()); err != nil {
		return 0, "", err
	}
	var answer struct {
		Nanoseconds float64 `json:"nanoseconds"`
		Reply       string  `json:"reply"`
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return 0, "", fmt.Errorf("%s answers nothing: %w", p.framework, err)
	}
	err = json.Unmarshal(line, &answer)
	return timing(answer.Nanoseconds), answer.Reply, err
}

func (p *process) close() {
	_ = p.in.Close() // The process ends when its input ends.
	_ = p.wait()
}
