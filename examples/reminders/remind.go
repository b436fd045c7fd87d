package main

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// The tags of the agendas: a member has at most one of each.
const (
	tagReminder  = "appointment"
	tagExercises = "exercises"
)

// setReminders schedules the bot's messages about the appointment. Repeating it replaces them.
func (p Practice) setReminders(ctx context.Context, bot *botctx.Context) error {
	has, _ := booked(bot)
	if err := p.setReminder(ctx, bot, has); err != nil {
		return err
	}
	return p.setExercises(ctx, bot, has)
}

// setReminder schedules the reminder, once.
func (p Practice) setReminder(ctx context.Context, bot *botctx.Context, has appointment) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: nodeReminder,
		NextRunAt:       p.noticeOf(has),
		Meta:            document.O("time", has.Time),
		Tag:             tagReminder,
		Replace:         true,
	})
	return err
}

// setExercises schedules the exercises, by their pattern until the appointment.
func (p Practice) setExercises(ctx context.Context, bot *botctx.Context, has appointment) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: nodeExercises,
		Pattern:         p.Exercises,
		RunUntil:        has.At,
		Tag:             tagExercises,
		Replace:         true,
	})
	return err
}

// moveReminders moves the scheduled reminders to the current appointment. Reminders that have run for the
// last time are scheduled again.
func (p Practice) moveReminders(ctx context.Context, bot *botctx.Context) error {
	has, _ := booked(bot)
	moved, err := bot.UpdateAgenda(ctx, agenda.UpdateParams{
		MemberID: bot.Member.ID, Tag: tagReminder, NextRunAt: p.noticeOf(has), Meta: document.O("time", has.Time),
	})
	if err == nil && len(moved.Docs) == 0 {
		err = p.setReminder(ctx, bot, has)
	}
	if err != nil {
		return err
	}
	moved, err = bot.UpdateAgenda(ctx, agenda.UpdateParams{
		MemberID: bot.Member.ID, Tag: tagExercises, RunUntil: has.At,
	})
	if err == nil && len(moved.Docs) == 0 {
		err = p.setExercises(ctx, bot, has)
	}
	return err
}

// removeReminders removes all agendas of the member.
func removeReminders(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID})
	return err
}

// noticeOf returns the time of the reminder of an appointment.
func (p Practice) noticeOf(has appointment) document.Timestamp {
	return document.TimestampOf(has.At.Time().Add(-p.Notice))
}

// remind sends a reminder of the agenda's appointment.
func remind(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("Do not forget your appointment: "+document.Get(bot.AgendaMeta, "time", "")+"."))
}
