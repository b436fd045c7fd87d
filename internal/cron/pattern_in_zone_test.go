package cron_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/internal/cron"
)

func TestInZone_IsReadInThatZone(t *testing.T) {
	t.Parallel()
	require.Equal(t, "CRON_TZ=America/New_York 0 9 * * 1", agenda.InZone(newYork, "0 9 * * 1"))
	for _, text := range []string{
		agenda.InZone(newYork, "0 9 * * 1"), "  CRON_TZ=America/New_York\t0 9  * * 1", agenda.InZone(newYork, "0 0 9 * * 1 *"),
	} {
		pattern, err := cron.Parse(text, london)
		require.NoError(t, err, text)
		require.Equal(t, newYork, pattern.Zone(), "it names its own")
		require.Equal(t, text, pattern.String())
		next, ok := pattern.Next(instant(t, "2026-03-02T14:00:00Z"))
		require.True(t, ok)
		require.Equal(t, instant(t, "2026-03-09T09:00:00-04:00").UTC(), next, "the clocks there have changed on 8 March")
	}
	daily, err := cron.Parse(agenda.InZone(london, "@daily"), "")
	require.NoError(t, err)
	require.Equal(t, london, daily.Zone())
}

func TestInZone_Refuses(t *testing.T) {
	t.Parallel()
	refusals{
		{agenda.InZone("Europe/Atlantis", "0 9 * * 1"), `"Europe/Atlantis" is not in the time-zone database; give a name such as "Europe/London", and ` +
			`where the machine has no database, import time/tzdata into the program`},
		{agenda.InZone("europe/london", "0 9 * * 1"), `must be a name of the IANA database in its spelling, such as "Europe/London", got "europe/london"`},
		{agenda.InZone("../etc/passwd", "0 9 * * 1"), "must be a name of the IANA database"},
		{agenda.InZone("UTC+2", "0 9 * * 1"), `"UTC+2" is not in the time-zone database`},
		{agenda.InZone("Local", "0 9 * * 1"), "Local is the zone of the machine"},
		{agenda.InZone("", "0 9 * * 1"), `names no zone behind CRON_TZ=; write "CRON_TZ=Europe/London 0 9 * * 1"`},
		{"CRON_TZ=", "names no zone"},
		{agenda.InZone(london, ""), "has 0 fields"},
		{agenda.InZone(london, agenda.InZone(newYork, "0 9 * * 1")), `has "cron_tz=america/new_york" where a field is`},
		{"0 9 * * 1 CRON_TZ=Europe/London", "a zone is named once, in front and in capitals"},
		{"cron_tz=Europe/London 0 9 * * 1", `write "CRON_TZ=Europe/London 0 9 * * 1"`},
		{"TZ=Europe/London 0 9 * * 1", `in front and in capitals: write "CRON_TZ=Europe/London 0 9 * * 1"`},
	}.check(t)
}
