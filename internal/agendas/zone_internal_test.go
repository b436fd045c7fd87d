package agendas

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"
	_ "time/tzdata" // The tests do not depend on the machine's time zones.

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// traveller is a member whose zone the test changes, and a scheduler that asks for the zone.
type traveller struct {
	*stand

	zone string
	// failure is the error of the function Zone.
	failure error
	// ran are the scheduled times of all runs.
	ran []string
	// fails is the error of each run, or nil.
	fails     error
	scheduler *Scheduler
}

func newTraveller(s *stand, zone string, settings ...func(*SchedulerConfig)) *traveller {
	m := &traveller{stand: s, zone: zone}
	m.scheduler = s.scheduler(func(_ context.Context, run agenda.Run) error {
		m.ran = append(m.ran, run.ScheduledAt.Format(time.RFC3339))
		return m.fails
	}, append(settings, func(c *SchedulerConfig) {
		c.Zone = func(context.Context, agenda.Agenda) (string, error) { return m.zone, m.failure }
	})...)
	return m
}

// adds stores an agenda with a pattern in the member's zone and a next run. It moves the clock to that run.
func (m *traveller) adds(pattern, next string, settings ...func(*agenda.Record)) string {
	m.t.Helper()
	id := m.add(0, append([]func(*agenda.Record){repeating(pattern), func(r *agenda.Record) {
		r.Zone, r.NextRunAt = m.zone, document.TimestampOf(m.at(next))
	}}, settings...)...)
	m.clock.set(m.at(next))
	return id
}

func (m *traveller) at(text string) time.Time {
	m.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(m.t, err)
	return at
}

// requireNext requires the time and zone for which an agenda is scheduled.
func (m *traveller) requireNext(id, at, zone string) {
	m.t.Helper()
	r := m.get(id)
	require.Equal(m.t, m.at(at).UTC(), r.NextRunAt.Time())
	require.Equal(m.t, zone, r.Zone)
	require.Zero(m.t, [...]int64{r.Attempts, r.Failures, int64(r.LeaseUntil), int64(r.RetryAt)})
}

func TestFollowMember_WestWaits(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "Europe/London")
		id := m.adds("0 9 * * 1", "2026-02-02T09:00:00Z")
		m.zone = "America/New_York"
		result := s.runNext(m.scheduler)
		require.True(t, result.Relocated)
		require.NoError(t, result.Err)
		require.Equal(t, m.at("2026-02-02T09:00:00-05:00").UTC(), result.Next)
		require.Empty(t, m.ran, "it is four in the morning there")
		m.requireNext(id, "2026-02-02T09:00:00-05:00", "America/New_York")
		s.requireNothingDue(m.scheduler)

		s.clock.set(m.at("2026-02-02T09:00:00-05:00"))
		require.False(t, s.runNext(m.scheduler).Relocated)
		m.requireNext(id, "2026-02-09T09:00:00-05:00", "America/New_York")
		require.Equal(t, []string{"2026-02-02T14:00:00Z"}, m.ran)
	})
}

func TestFollowMember_RunsAtOnce(t *testing.T) {
	t.Parallel()
	const due = "2026-02-02T09:00:00Z" // This is four in the morning in New York.
	for name, test := range map[string]struct {
		// zone is the new zone, New York by default.
		pattern, zone, next string
		setting             func(*agenda.Record)
	}{
		"the member stays":                   {pattern: "0 9 * * 1", zone: "Europe/London", next: "2026-02-09T09:00:00Z"},
		"the member moves east":              {pattern: "0 9 * * 1", zone: "Asia/Tokyo", next: "2026-02-09T09:00:00+09:00"},
		"wildcard hours mean no time of day": {pattern: "*/7 * * * *", next: "2026-02-02T09:07:00Z"},
		"a run at an instant":                {pattern: "30 9 * * 1", next: "2026-02-02T14:30:00Z"},
		"no run would be left": {
			pattern: "0 9 * * 1", setting: func(r *agenda.Record) {
				r.RunUntil = document.TimestampOf(start().AddDate(0, 1, 1).Add(13 * time.Hour))
			},
		},
		"due there, too": {pattern: "0 4,9 * * *", next: "2026-02-02T14:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				m := newTraveller(s, "Europe/London")
				settings := []func(*agenda.Record){func(*agenda.Record) {}}
				if test.setting != nil {
					settings = append(settings, test.setting)
				}
				id := m.adds(test.pattern, due, settings...)
				m.zone = cmp.Or(test.zone, "America/New_York")
				require.False(s.t, s.runNext(m.scheduler).Relocated)
				require.Equal(s.t, []string{due}, m.ran)
				if test.next == "" {
					require.True(s.t, s.get(id).Completed)
					return
				}
				m.requireNext(id, test.next, m.zone)
			})
		})
	}
}

func TestFollowMember_RunThatHasBegunStays(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "Europe/London", limited(3))
		id := m.adds("0 9 * * 1", "2026-02-02T09:00:00Z")
		m.fails = errors.New("no luck")
		s.runNext(m.scheduler)
		m.zone, m.fails = "America/New_York", nil
		s.clock.advance(time.Minute)
		require.False(t, s.runNext(m.scheduler).Relocated, "what it did before must not be done twice today")
		m.requireNext(id, "2026-02-02T09:00:00-05:00", "America/New_York")
	})
}

func TestFollowMember_FirstZoneOfAll(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "")
		id := m.adds("0 9 * * *", "2026-02-02T09:00:00Z")
		m.zone = "Asia/Tokyo"
		s.runNext(m.scheduler)
		m.requireNext(id, "2026-02-03T09:00:00+09:00", "Asia/Tokyo")
		m.zone = ""
		s.clock.set(m.at("2026-02-03T00:00:00Z"))
		require.True(t, s.runNext(m.scheduler).Relocated)
		m.requireNext(id, "2026-02-03T09:00:00Z", "UTC")
	})
}

func TestFollowMember_IsNotAsked(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "", limited(1))
		m.failure = errors.New("the zone is not needed here")
		for _, settings := range [][]func(*agenda.Record){
			{},
			{repeating(agenda.InZone("Europe/London", "0 9 * * *"))},
			{func(r *agenda.Record) { r.Pattern = "0 9 * * *" }},
		} {
			s.add(0, settings...)
			require.NoError(t, s.runNext(m.scheduler).Err)
		}
		require.Len(t, m.ran, 3)
	})
}

func TestFollowMember_ZoneNotTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(m *traveller)
		want  string
	}{
		"an error": {
			spoil: func(m *traveller) { m.failure = boterr.New(boterr.Unavailable, "", "no answer") },
			want:  "zone: the host did not return the time zone of the member m1: unavailable: no answer",
		},
		"a name that is none": {
			spoil: func(m *traveller) { m.zone = "London" },
			want:  `zone: the host returned an invalid time zone for the member m1: "London" is not in the time-zone database`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				m := newTraveller(s, "Europe/London", limited(2))
				id := m.adds("0 9 * * 1", "2026-03-23T09:00:00Z")
				test.spoil(m)
				require.ErrorContains(s.t, s.runNext(m.scheduler).Err, test.want)
				require.Equal(s.t, document.TimestampOf(m.at("2026-03-23T09:00:00Z")), s.get(id).NextRunAt, "it is tried again")
				require.Contains(s.t, s.get(id).Error, test.want)

				s.clock.advance(time.Minute)
				s.runNext(m.scheduler)
				require.Empty(s.t, m.ran, "nothing of it is done")
				require.True(s.t, s.get(id).Failed)
				m.requireNext(id, "2026-03-30T09:00:00+01:00", "Europe/London")

				m.zone, m.failure = "Europe/London", nil
				s.clock.set(m.at("2026-03-30T09:00:00+01:00"))
				require.NoError(s.t, s.runNext(m.scheduler).Err)
				require.False(s.t, s.get(id).Failed)
				m.requireNext(id, "2026-04-06T09:00:00+01:00", "Europe/London")
			})
		})
	}
}

func TestFollowMember_ClocksChange(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "Europe/London")
		// On 8 March, half past two does not exist in New York, so the agenda runs at the end of the gap.
		id := m.adds("30 2 * * *", "2026-03-08T02:30:00Z")
		m.zone = "America/New_York"
		require.True(t, s.runNext(m.scheduler).Relocated)
		m.requireNext(id, "2026-03-08T03:00:00-04:00", "America/New_York")
	})
}

func TestFollowMember_ScheduleGivenMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "Europe/London")
		id := m.adds("0 9 * * 1", "2026-02-02T09:00:00Z")
		m.scheduler.config.Zone = func(ctx context.Context, of agenda.Agenda) (string, error) {
			_, err := s.service().UpdateAgenda(ctx, agenda.UpdateParams{MemberID: of.Member, NextRunAt: document.TimestampOf(m.at("2026-02-05T12:00:00Z"))})
			return "America/New_York", err
		}
		require.True(t, s.runNext(m.scheduler).Relocated)
		m.requireNext(id, "2026-02-05T12:00:00Z", "Europe/London")
		require.Empty(t, m.ran)
	})
}

func TestFollowMember_HostPanics(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "Europe/London", limited(2))
		m.scheduler.config.Zone = func(context.Context, agenda.Agenda) (string, error) { panic("no map") }
		m.adds("0 9 * * 1", "2026-02-02T09:00:00Z")
		require.ErrorContains(t, s.runNext(m.scheduler).Err, "no map")
	})
}
