package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

const day = 24 * time.Hour

// aPractice returns a platform with the bot and two patients on a Monday at nine. The free times are Thursday
// 10:00, Friday 14:00, Monday 10:00, and two later ones.
func aPractice(t *testing.T) (p *fakes.Platform, ada, bob *fakes.Actor) {
	t.Helper()
	p = fakes.New(fakes.For(t), fakes.StartAt(monday()))
	p.Handle(Usual().Nodes()...)
	p.AddData(slotsID, slotsAt(openings(monday(), day))...)
	ada = p.AddMember(member.Member{FirstName: "Ada"})
	bob = p.AddMember(member.Member{FirstName: "Bob"})
	return p, ada, bob
}

// says makes a patient say several texts.
func says(patient *fakes.Actor, texts ...string) {
	for _, text := range texts {
		patient.Says(text)
	}
}

// hears moves the time, and returns the messages that the bot sends to a patient in the meantime, one per
// line.
func hears(p *fakes.Platform, patient *fakes.Actor, within time.Duration) string {
	before := len(p.Sent())
	p.Advance(within)
	var lines []string
	for _, sent := range p.Sent()[before:] {
		if sent.Member == patient.ID() {
			lines = append(lines, sent.SentAt.Format("Mon 15:04 ")+sent.Response.Text())
		}
	}
	return strings.Join(lines, "\n")
}

func TestReminders_DayBeforeAndExercises(t *testing.T) {
	t.Parallel()
	p, ada, _ := aPractice(t)
	says(ada, "book", "1")
	require.Equal(t, "Booked: Thu 8 Jan, 10:00. I remind you before it, and of your exercises until then.", ada.Last())
	require.Equal(t, `Tue 08:00 Hello Ada, time for your exercises!
Wed 08:00 Hello Ada, time for your exercises!
Wed 10:00 Do not forget your appointment: Thu 8 Jan, 10:00.
Thu 08:00 Hello Ada, time for your exercises!`, hears(p, ada, 30*day))
}

func TestReminders_MoveWithAppointment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after time.Duration
		want  string
	}{
		"at once": {0, `Tue 08:00 Hello Ada, time for your exercises!
Wed 08:00 Hello Ada, time for your exercises!
Thu 08:00 Hello Ada, time for your exercises!
Thu 14:00 Do not forget your appointment: Fri 9 Jan, 14:00.
Fri 08:00 Hello Ada, time for your exercises!`},
		"after the bot has reminded": {2*day + 2*time.Hour, `Thu 08:00 Hello Ada, time for your exercises!
Thu 14:00 Do not forget your appointment: Fri 9 Jan, 14:00.
Fri 08:00 Hello Ada, time for your exercises!`},
		"after the last exercises": {2*day + 23*time.Hour + 30*time.Minute, `Thu 14:00 Do not forget your appointment: Fri 9 Jan, 14:00.
Fri 08:00 Hello Ada, time for your exercises!`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, ada, _ := aPractice(t)
			says(ada, "book", "1")
			p.Advance(test.after)
			says(ada, "move", "1")
			require.Equal(t, "Moved: Fri 9 Jan, 14:00.", ada.Last())
			require.Equal(t, test.want, hears(p, ada, 30*day))
		})
	}
}

func TestMove_ToAnEarlierTime(t *testing.T) {
	t.Parallel()
	p, ada, _ := aPractice(t)
	says(ada, "book", "3", "move", "1")
	require.Equal(t, "Wed 10:00 Do not forget your appointment: Thu 8 Jan, 10:00.",
		strings.Split(hears(p, ada, 30*day), "\n")[2])
}

func TestCancel_EndsReminders(t *testing.T) {
	t.Parallel()
	p, ada, bob := aPractice(t)
	says(ada, "book", "1", "cancel")
	require.Equal(t, "Your appointment is cancelled.", ada.Last())
	require.Empty(t, hears(p, ada, 30*time.Hour))
	says(ada, "cancel")
	require.Equal(t, "You have no appointment.", ada.Last())
	says(bob, "book")
	require.Contains(t, bob.Last(), "1. Thu 8 Jan, 10:00", "others can have the time")
}

func TestUnsubscribe_UntilTheyComeBack(t *testing.T) {
	t.Parallel()
	p, ada, _ := aPractice(t)
	says(ada, "book", "1", "stop")
	require.Empty(t, hears(p, ada, 2*day))
	says(ada, "start")
	require.Equal(t, `Wed 10:00 Do not forget your appointment: Thu 8 Jan, 10:00.
Thu 08:00 Hello Ada, time for your exercises!`, hears(p, ada, 30*day))
}

func TestBook_TimeOnce(t *testing.T) {
	t.Parallel()
	_, ada, bob := aPractice(t)
	says(ada, "book")
	says(bob, "book", "1")
	says(ada, "1")
	require.Equal(t, "Sorry, that time cannot be had any more.", ada.Messages()[1].Text())
	require.Equal(t, "Which time shall it be?\n  1. Fri 9 Jan, 14:00\n  2. Mon 12 Jan, 10:00\n  3. Fri 16 Jan, 10:00", ada.Last())
	says(ada, "1")
	require.Contains(t, ada.Last(), "Booked: Fri 9 Jan, 14:00.")
}

func TestBook_TooNear(t *testing.T) {
	t.Parallel()
	p, ada, _ := aPractice(t)
	says(ada, "book")
	p.Advance(2*day + time.Hour)
	says(ada, "1")
	require.Contains(t, ada.Last(), "1. Fri 9 Jan, 14:00")
	p.Advance(30 * day)
	says(ada, "book")
	require.Equal(t, "There is no free time, sorry.", ada.Last())
}

func TestBook_FailsHalfway(t *testing.T) {
	t.Parallel()
	p, ada, _ := aPractice(t)
	says(ada, "book")
	p.Inject(fakes.Fails(botctx.OpNewAgenda, boterr.Unavailable))
	require.ErrorIs(t, ada.TrySays("1"), boterr.Unavailable)
	require.False(t, ada.Member().Meta.Has("appointment"), "what a run that fails has changed is not kept")
	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
	require.ErrorIs(t, ada.TrySays("1"), boterr.Unavailable)
	says(ada, "1")
	require.Contains(t, ada.Last(), "Booked: Thu 8 Jan, 10:00.")
	require.Len(t, strings.Split(hears(p, ada, 30*day), "\n"), 4, "each reminder comes once")
}

func TestMove_FailureLosesNothing(t *testing.T) {
	t.Parallel()
	p, ada, bob := aPractice(t)
	says(ada, "book", "1", "move")
	p.Inject(fakes.Fails(botctx.OpUpdateAgenda, boterr.Unavailable))
	require.ErrorIs(t, ada.TrySays("1"), boterr.Unavailable)
	says(bob, "book")
	require.NotContains(t, bob.Last(), "Thu 8 Jan", "Ada has her time still")
	says(ada, "1")
	require.Equal(t, "Moved: Fri 9 Jan, 14:00.", ada.Last())
	says(bob, "book")
	require.Contains(t, bob.Last(), "Thu 8 Jan", "and gives it up when the other one is hers")
}

func TestMove_RepeatedLeavesOthersTime(t *testing.T) {
	t.Parallel()
	p, ada, bob := aPractice(t)
	says(ada, "book", "1", "move")
	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
	require.ErrorIs(t, ada.TrySays("1"), boterr.Unavailable)
	says(bob, "book", "1")
	require.Contains(t, bob.Last(), "Booked: Thu 8 Jan, 10:00.")
	says(ada, "1", "book")
	require.NotContains(t, ada.Last(), "Thu 8 Jan", "it is Bob's")
}

func TestAppointment_HasPassed(t *testing.T) {
	t.Parallel()
	p, ada, _ := aPractice(t)
	says(ada, "book", "1")
	p.Advance(4 * day)
	says(ada, "cancel")
	require.Equal(t, "You have no appointment.", ada.Last())
	says(ada, "book", "1")
	require.Contains(t, ada.Last(), "Booked: Mon 12 Jan, 10:00.")
}

func TestHelp_WhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	_, ada, _ := aPractice(t)
	says(ada, "1", "book", "9", "hello", "1", "1")
	require.Equal(t, helpText, ada.Messages()[0].Text(), "a number answers nothing before times are offered")
	require.Contains(t, ada.Messages()[2].Text(), "Which time shall it be?", "and nothing that is not offered")
	require.Equal(t, helpText, ada.Messages()[3].Text())
	require.Equal(t, helpText, ada.Last(), "nor one after a time is booked")
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(Usual().Nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
