package quickjs_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// localTimes is a script that returns the time of each half hour of a year, by its local fields.
const localTimes = `(() => {
	const times = []
	for (let i = 0; i < 2 * 24 * 365; i++) times.push(new Date(2026, 0, 1, 0, 30 * i).getTime() / 6e4)
	return times.join()
})()`

// Each local time of a year is the one of Node.js.
func TestDate_LocalTimesAsNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose times are compared, is not installed")
	}
	zones := []string{"Europe/Vienna", "America/Los_Angeles", "America/St_Johns", "Australia/Lord_Howe", "Asia/Taipei", "Pacific/Auckland"}
	list, err := json.Marshal(zones)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), node, "-p", "JSON.stringify("+string(list)+".map((zone) => { process.env.TZ = zone; return "+localTimes+" }))")
	printed, err := command.Output()
	require.NoError(t, err)
	var want []string
	require.NoError(t, json.Unmarshal(printed, &want))
	s := newSnapshot(t, "")
	for i, zone := range zones {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		in := take(t, s, quickjs.Run{Zone: location})
		require.Equal(t, strings.Split(want[i], ","), strings.Split(evalText(t, in, localTimes), ","), zone)
		in.Release()
	}
}

// The hour that the clock skips is read with the offset before, and of an hour that it repeats the first one counts.
func TestDate_AroundAChangeOfTheOffset(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for zone, times := range map[string][][2]string{
		"Europe/Vienna": {
			{"new Date(2026, 2, 29, 0, 30)", "2026-03-28T23:30:00.000Z"},
			{"new Date(2026, 2, 29, 1, 30)", "2026-03-29T00:30:00.000Z"},
			{"new Date(2026, 2, 29, 2, 30)", "2026-03-29T01:30:00.000Z"},
			{"new Date(2026, 2, 29, 3, 30)", "2026-03-29T01:30:00.000Z"},
			{"new Date(2026, 9, 25, 1, 30)", "2026-10-24T23:30:00.000Z"},
			{"new Date(2026, 9, 25, 2, 30)", "2026-10-25T00:30:00.000Z"},
			{"new Date(2026, 9, 25, 3, 30)", "2026-10-25T02:30:00.000Z"},
			{"new Date('2026-03-29T01:30')", "2026-03-29T00:30:00.000Z"},
			{"new Date('Mar 29, 2026 1:30')", "2026-03-29T00:30:00.000Z"},
			{"((d) => (d.setHours(1, 30), d))(new Date(Date.UTC(2026, 2, 29, 12)))", "2026-03-29T00:30:00.000Z"},
		},
		"America/Los_Angeles": {
			{"new Date(2026, 2, 7, 23, 30)", "2026-03-08T07:30:00.000Z"},
			{"new Date(2026, 2, 8, 2, 30)", "2026-03-08T10:30:00.000Z"},
			{"new Date(2026, 2, 8, 9, 30)", "2026-03-08T16:30:00.000Z"},
			{"new Date(2026, 10, 1, 1, 30)", "2026-11-01T08:30:00.000Z"},
			{"new Date(2026, 10, 1, 2, 30)", "2026-11-01T10:30:00.000Z"},
		},
		"Australia/Lord_Howe": {
			{"new Date(2026, 3, 5, 1, 45)", "2026-04-04T14:45:00.000Z"},
			{"new Date(2026, 9, 4, 2, 15)", "2026-10-03T15:45:00.000Z"},
		},
	} {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		in := take(t, s, quickjs.Run{Zone: location})
		for _, one := range times {
			require.Equal(t, one[1], evalText(t, in, one[0]+".toISOString()"), "%s: %s", zone, one[0])
		}
		in.Release()
	}
}
