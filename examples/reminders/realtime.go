package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// The program's only app and channel.
const (
	appID     = "reminders"
	channelID = "terminal"
)

// hurried returns the bot of a practice in which a day lasts only seconds.
func hurried(day time.Duration) Practice {
	return Practice{Notice: day, Exercises: everyPattern(day)}
}

// everyPattern returns a CRON pattern with seconds that fires at this interval.
func everyPattern(pause time.Duration) string {
	if pause == time.Minute {
		return "0 * * * * * *"
	}
	return fmt.Sprintf("*/%d * * * * * *", int(pause.Seconds()))
}

// realStage is a Runtime over a store in memory and a channel whose messages are printed, on the real clock.
type realStage struct {
	runtime    *botctx.Runtime
	transcript *Transcript
	day        time.Duration
}

// playInRealTime plays the conversation while the scheduler runs due agendas. It ends early if ctx ends. In
// any case the scheduler finishes current runs. log receives the scheduler's errors.
func playInRealTime(ctx context.Context, day time.Duration, transcript *Transcript, log *slog.Logger) error {
	stage, err := newRealStage(ctx, day, transcript, log)
	if err != nil {
		return err
	}
	scheduling, stop := context.WithCancel(ctx)
	drained := make(chan error, 1)
	go func() { drained <- stage.runtime.Run(scheduling) }()
	for _, step := range conversation {
		if err == nil {
			err = stage.play(ctx, step)
		}
	}
	stop()
	return errors.Join(err, <-drained)
}

// newRealStage returns a stage with the bot, the channel and the free times.
func newRealStage(
	ctx context.Context, day time.Duration, transcript *Transcript, log *slog.Logger,
) (*realStage, error) {
	store := memstore.New()
	if err := botctx.EnsureIndexes(ctx, store); err != nil {
		return nil, err
	}
	runtime, err := botctx.New(botctx.Config{
		Store:      store,
		Connectors: map[channel.Type]send.Connector{channel.Webchat: printer{transcript, time.Now}},
		Scheduler:  botctx.SchedulerOptions{Log: log},
	})
	if err != nil {
		return nil, err
	}
	if err := runtime.Handle(hurried(day).Nodes()...); err != nil {
		return nil, err
	}
	scope := botctx.Scope{App: appID}
	if _, err := runtime.SaveChannel(ctx, appID, &channel.Channel{ID: channelID, Type: channel.Webchat, On: true}); err != nil {
		return nil, err
	}
	stage := &realStage{runtime: runtime, transcript: transcript, day: day}
	_, err = runtime.Operations(scope).UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: slotsID, Data: slotsAt(openings(time.Now(), day)),
	})
	return stage, err
}

// play carries out a step: a patient says something, or days pass.
func (s *realStage) play(ctx context.Context, step step) error {
	if step.days > 0 {
		return s.wait(ctx, time.Duration(step.days)*s.day)
	}
	if err := s.transcript.Print(time.Now(), step.patient, "bot", step.says); err != nil {
		return err
	}
	return s.runtime.Receive(ctx, botctx.Inbound{
		App: appID, Channel: channelID,
		Event:   send.MessageEvent{From: step.patient, Type: send.TypeText, Data: document.O("text", step.says)},
		Profile: member.Member{FirstName: step.patient},
	})
}

// wait waits while the scheduler works.
func (s *realStage) wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// printer is the connector of the channel: it prints the bot's messages, with the time of a clock.
type printer struct {
	transcript *Transcript
	now        func() time.Time
}

// Send implements send.Connector.
func (p printer) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	return send.Delivery{}, p.transcript.Print(p.now(), "bot", message.To, message.Response.Text())
}
