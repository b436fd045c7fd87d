package blame_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/blame"
)

var noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

func suspect(name, app string, losses int64) blame.Run {
	return blame.Run{Name: name, App: app, Level: blame.LevelOf(losses), Losses: losses}
}

func TestAdmit_OneSuspectAtATime(t *testing.T) {
	t.Parallel()
	var s blame.Suspects
	require.True(t, s.Admit(suspect("a", "", 1), 3, noon))
	require.False(t, s.Admit(suspect("b", "", 1), 3, noon))
	require.True(t, s.Admit(suspect("c", "", 0), 3, noon), "no suspect")
	require.True(t, s.IsWaiting())
	require.Empty(t, s.End("c", noon))
	require.Equal(t, []string{"b"}, s.End("a", noon))
	require.True(t, s.Admit(suspect("b", "", 1), 3, noon))
	s.End("b", noon)
	require.True(t, s.Admit(suspect("", "", 1), 3, noon), "an agenda whose _id is no text")
}

func TestAdmit_AppsTakeTurns(t *testing.T) {
	t.Parallel()
	var s blame.Suspects
	require.True(t, s.Admit(suspect("a1", "a", 1), 0, noon))
	require.False(t, s.Admit(suspect("a1", "a", 1), 0, noon), "it does not ask for another turn")
	require.False(t, s.Admit(suspect("b", "b", 1), 0, noon))
	require.False(t, s.Admit(suspect("a2", "a", 1), 0, noon))
	require.Equal(t, []string{"a1", "b", "a2"}, s.End("a1", noon))
	require.False(t, s.Admit(suspect("a2", "a", 1), 0, noon), "it is the turn of b")
	require.True(t, s.Admit(suspect("b", "b", 1), 0, noon))
	require.False(t, s.Admit(suspect("a2", "a", 1), 0, noon))
	s.End("b", noon)
	require.True(t, s.Admit(suspect("a2", "a", 1), 0, noon))
	require.False(t, s.Admit(suspect("b", "b", 1), 0, noon))
	s.End("a2", noon)
	require.True(t, s.Admit(suspect("a3", "a", 1), 0, noon.Add(time.Minute)), "b does not ask any more")
}

// A suspect that does not end delays others for a limited time. Its late End does not end the next suspect.
func TestAdmit_BesideOneThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for losses := range int64(3) {
		var s blame.Suspects
		require.True(t, s.Admit(suspect("stuck", "", 1+losses), 0, noon))
		require.False(t, s.Admit(suspect("b", "", 1), 1, noon.Add(time.Minute)), "a run may take so long")
		require.False(t, s.Admit(suspect("alone", "", 2), 1, noon.Add(time.Minute)))
		now := noon.Add(time.Duration(2*(1+losses)) * time.Minute)
		require.True(t, s.Admit(suspect("b", "", 1), 1, now))
		require.Empty(t, s.End("stuck", now))
		require.False(t, s.Admit(suspect("c", "", 1), 1, now))
		require.Contains(t, s.End("b", now), "c")
		_, isOnly := s.Only(now)
		require.False(t, isOnly)
		s.Reserve("alone", now)
		only, _ := s.Only(now)
		require.Equal(t, "alone", only)
	}
}

func TestOnly_StrongSuspectRunsAlone(t *testing.T) {
	t.Parallel()
	var s blame.Suspects
	require.False(t, s.Admit(suspect("a", "", 2), 1, noon), "another run is under way")
	only, isOnly := s.Only(noon)
	require.True(t, isOnly)
	require.Equal(t, "a", only)
	require.True(t, s.IsDraining())
	now := noon.Add(time.Second)
	require.True(t, s.Admit(suspect("a", "", 2), 0, now))
	only, isOnly = s.Only(now)
	require.True(t, isOnly)
	require.Empty(t, only)
	_, isOnly = s.Only(now.Add(2 * time.Minute))
	require.False(t, isOnly, "it holds up others for a time only")
	s.Reserve("b", now)
	now = now.Add(20 * time.Second)
	s.End("a", now)
	_, isOnly = s.Only(now)
	require.False(t, isOnly, "others have as much time as it took")
	require.False(t, s.Admit(suspect("b", "", 2), 0, now))
	_, isOnly = s.Only(now.Add(20 * time.Second))
	require.True(t, isOnly)
	require.True(t, s.Admit(suspect("b", "", 2), 1, now.Add(40*time.Second)), "other runs do not end")
	s.End("b", now.Add(50*time.Second))
	_, isOnly = s.Only(now.Add(50 * time.Second))
	require.False(t, isOnly)
}

func TestDrop_WaitsNoMore(t *testing.T) {
	t.Parallel()
	var s blame.Suspects
	s.Reserve("a", noon)
	s.Drop("a", noon)
	_, isOnly := s.Only(noon)
	require.False(t, isOnly)
	require.False(t, s.IsWaiting())
}

// A suspect that waits to run alone may be removed and never ask again. The next one must not wait forever.
func TestAdmit_AloneBehindOneThatIsGone(t *testing.T) {
	t.Parallel()
	var s blame.Suspects
	require.False(t, s.Admit(suspect("gone", "", 2), 1, noon))
	asked := 0
	for now := noon.Add(time.Second); !s.Admit(suspect("next", "", 2), 1, now); now = now.Add(time.Second) {
		asked++
		require.Less(t, asked, 60)
	}
	require.Equal(t, []string(nil), s.End("next", noon.Add(time.Hour)))
}
