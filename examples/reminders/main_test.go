package main

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// ran is the result of a run of the program.
type ran struct {
	code          int
	out, problems string
}

func runWith(ctx context.Context, args ...string) ran {
	var out, problems bytes.Buffer
	code := run(ctx, args, strings.NewReader("book\n1\n/advance 3d\n"), &out, &problems)
	return ran{code, out.String(), problems.String()}
}

func TestMain_VirtualTime(t *testing.T) {
	t.Parallel()
	r := runWith(t.Context())
	require.Zero(t, r.code, r.problems)
	require.Contains(t, r.out, `
Sun 11 Jan 08:00:00  bot > Ada: Hello Ada, time for your exercises!
Sun 11 Jan 10:00:00  bot > Ada: Do not forget your appointment: Mon 12 Jan, 10:00.
Mon 12 Jan 08:00:00  bot > Ada: Hello Ada, time for your exercises!
Tue 13 Jan 09:00:00  Bob > bot: start
`)
	require.Equal(t, 8, strings.Count(r.out, "time for your exercises"))
	require.Equal(t, 1, strings.Count(r.out, "Do not forget"))
}

func TestTranscript_HiddenCharacters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	transcript := Transcript{Out: &out}
	require.NoError(t, transcript.Print(time.Time{}, "Ada\x1b", "bot", "a\x1b[2J\u202e\nb"))
	require.Contains(t, out.String(), `Ada\x1b > bot: a\x1b[2J\u202e`+"\n")
}

// timeForm matches a time in the transcript and in the bot's messages.
var timeForm = regexp.MustCompile(`\w{3} [ \d]\d? \w{3},? \d\d:\d\d(:\d\d)?`)

// untimed returns a transcript without its times, and without the space that follows from
// their length.
func untimed(transcript string) []string {
	lines := strings.Split(timeForm.ReplaceAllString(transcript, "(time)"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

func TestMain_RealTimeIsTheSame(t *testing.T) {
	t.Parallel()
	virtual := runWith(t.Context())
	synctest.Test(t, func(t *testing.T) {
		const day = 6 * time.Second
		<-time.After(day / 24) // An hour after the exercises, as in virtual time.
		began := time.Now()
		r := runWith(t.Context(), "-realtime", "-day", day.String())
		require.Zero(t, r.code, r.problems)
		require.Empty(t, r.problems)
		require.Equal(t, 13*day, time.Since(began))
		require.Equal(t, untimed(virtual.out), untimed(r.out))
	})
}

func TestMain_Interrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 8*time.Second, errors.New("interrupt"))
		defer cancel()
		began := time.Now()
		r := runWith(ctx, "-realtime")
		require.Zero(t, r.code, r.problems)
		require.Empty(t, r.problems)
		require.Equal(t, 8*time.Second, time.Since(began))
		require.Contains(t, r.out, "Hello Ada, time for your exercises!\n")
		require.NotContains(t, r.out, "move\n")
		require.True(t, strings.HasSuffix(r.out, "\nInterrupted. The scheduler has finished what it ran.\n"), r.out)
	})
}

func TestHurried_Patterns(t *testing.T) {
	t.Parallel()
	require.Equal(t, "*/5 * * * * * *", hurried(5*time.Second).Exercises)
	require.Equal(t, "0 * * * * * *", hurried(time.Minute).Exercises)
}

func TestMain_TellsProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":                   {[]string{"-h"}, 0, "Usage: reminders"},
		"a day of virtual time":  {[]string{"-day", "5s"}, 2, "-day needs -realtime"},
		"a day without a length": {[]string{"-realtime", "-day", "0s"}, 2, "-day is 0s; it must be a number of seconds that divides a minute"},
		"a day of part seconds":  {[]string{"-realtime", "-day", "1500ms"}, 2, "-day is 1.5s"},
		"a day that is no part":  {[]string{"-realtime", "-day", "7s"}, 2, "-day is 7s"},
		"a long day":             {[]string{"-realtime", "-day", "24h"}, 2, "-day is 24h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runWith(t.Context(), c.args...)
			require.Equal(t, c.code, r.code)
			require.Contains(t, r.problems, c.want)
			require.Empty(t, r.out)
		})
	}
}

func TestMain_Talk(t *testing.T) {
	t.Parallel()
	r := runWith(t.Context(), "-talk")
	require.Zero(t, r.code, r.problems)
	require.Contains(t, r.out, "Ada: 1\nBot: Booked: Thu 8 Jan, 10:00.")
	require.Contains(t, r.out, "/advance 3d\nBot: Hello Ada, time for your exercises!\n")
	require.Contains(t, r.out, "Bot: Do not forget your appointment: Thu 8 Jan, 10:00.\n")
	require.Contains(t, r.out, "-- It is Thu 8 Jan 2026 09:00:00 UTC.\n")
	require.Equal(t, 2, runWith(t.Context(), "-talk", "-realtime").code)
}
