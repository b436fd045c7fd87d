package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// slotsID is the data source of available times. An entry has at, the time in Unix milliseconds, and by, the
// id of the member who has booked it, if any.
const slotsID = "slots"

// offered is the number of free times that are offered.
const offered = 3

// appointment is a booked slot in the member's meta.
type appointment struct {
	Slot string             `json:"slot"`
	At   document.Timestamp `json:"at"`
	// Time is At, formatted for patients.
	Time string `json:"time"`
}

func slotsAt(times []time.Time) []document.Object {
	var slots []document.Object
	for _, at := range times {
		slots = append(slots, document.O("_id", at.UTC().Format(time.RFC3339Nano), "at", document.TimestampOf(at)))
	}
	return slots
}

// booked returns the member's appointment, if it is in the future.
func booked(bot *botctx.Context) (appointment, bool) {
	has := document.Get(bot.Member.Meta, "appointment", appointment{})
	return has, has.At > document.TimestampOf(bot.Now())
}

// offer shows the free times, and remembers them by their numbers.
func (p Practice) offer(ctx context.Context, bot *botctx.Context) error {
	free, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: slotsID,
		Filter:       document.O("by", nil, "at", document.O("$gt", document.TimestampOf(bot.Now().Add(p.Notice)))),
		SortBy:       document.O("at", 1),
	})
	if err != nil {
		return err
	}
	var ids, lines []string
	for i, slot := range free.Entries[:min(len(free.Entries), offered)] {
		ids = append(ids, document.Get(slot, "_id", ""))
		lines = append(lines, fmt.Sprintf("\n  %d. %s", i+1, timeOf(slot)))
	}
	bot.Member.Meta.Set("offered", ids)
	if len(lines) == 0 {
		return bot.Reply(ctx, send.Text("There is no free time, sorry."))
	}
	return bot.Reply(ctx, send.Text("Which time shall it be?"+strings.Join(lines, "")))
}

// choose books the slot with the number in the patient's message. It releases the patient's previous slot
// last: if a run fails in between, nothing is lost, and choosing again completes it.
func (p Practice) choose(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	number, _ := strconv.Atoi(strings.TrimSpace(bot.MessageEvent.Text()))
	ids := document.Get(bot.Member.Meta, "offered", []string(nil))
	if number > len(ids) {
		return botctx.GoTo("free times")
	}
	slot, err := p.take(ctx, bot, ids[number-1])
	if err != nil {
		return nil, err
	}
	if slot.IsZero() {
		return botctx.GoTo("gone")
	}
	before, hasOne := booked(bot)
	bot.Member.Meta.Set("appointment", appointmentOf(slot))
	if hasOne {
		return &botctx.Redirect{NodeCompositeID: "moved", Meta: document.O("before", before.Slot)}, nil
	}
	return botctx.GoTo("booked")
}

// take books a slot, if it is free and not too near, and returns it, or the zero Object if it is not
// available. Repeating it after a failed run changes nothing.
func (p Practice) take(ctx context.Context, bot *botctx.Context, id string) (document.Object, error) {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: slotsID,
		Filter: document.O(
			"_id", id,
			"by", document.O("$in", document.A(nil, bot.Member.ID)),
			"at", document.O("$gt", document.TimestampOf(bot.Now().Add(p.Notice))),
		),
		Patch: document.Set("by", bot.Member.ID),
	})
	if err != nil || taken.Value == nil {
		return document.Object{}, err
	}
	return *taken.Value, nil
}

// releaseBefore releases the slot from which the appointment has moved. Its id is in the agenda's meta.
func releaseBefore(ctx context.Context, bot *botctx.Context) error {
	return release(ctx, bot, document.Get(bot.AgendaMeta, "before", ""))
}

// release frees a slot of the member for others.
func release(ctx context.Context, bot *botctx.Context, id string) error {
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: slotsID,
		Filter:       document.O("_id", id, "by", bot.Member.ID),
		Patch:        document.Unset("by"),
	})
	return err
}

// cancel checks whether there is anything to cancel.
func cancel(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	if _, hasOne := booked(bot); !hasOne {
		return botctx.GoTo("nothing booked")
	}
	return botctx.GoTo("cancelled")
}

// giveUp gives up the member's appointment.
func giveUp(ctx context.Context, bot *botctx.Context) error {
	has, _ := booked(bot)
	bot.Member.Meta.Delete("appointment")
	return release(ctx, bot, has.Slot)
}

func appointmentOf(slot document.Object) appointment {
	return appointment{
		Slot: document.Get(slot, "_id", ""), At: document.Get(slot, "at", document.Timestamp(0)), Time: timeOf(slot),
	}
}

// timeOf returns the time of a slot, formatted for patients, with seconds if there are any.
func timeOf(slot document.Object) string {
	at := document.Get(slot, "at", document.Timestamp(0)).Time()
	if at.Second() == 0 {
		return at.Format("Mon 2 Jan, 15:04")
	}
	return at.Format("Mon 2 Jan, 15:04:05")
}

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
