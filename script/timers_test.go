package script_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

func TestTimers_InOrderByTheContextsClock(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	before := s.Now()
	require.JSONEq(t, `["now",1,2,3,"tick","tick"]`, s.returns(`
		const said = []
		setTimeout((what) => said.push(what), 200, 3)
		setTimeout(() => said.push(2), 100)
		setTimeout(() => said.push('never'), 1000000)
		const stopped = setTimeout(() => said.push('stopped'), 50)
		clearTimeout(stopped)
		setImmediate(() => said.push(1))
		queueMicrotask(() => said.push('now'))
		await new Promise((resolve) => setTimeout(resolve, 300))
		let left = 2
		await new Promise((resolve) => {
			const id = setInterval(() => { said.push('tick'); if (--left === 0) { clearInterval(id); resolve() } }, 10)
		})
		return said`))
	require.Equal(t, 320*time.Millisecond, s.Now().Sub(before))
}

func TestDeadline_EndsWaiting(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Deadline: 500 * time.Millisecond})
	_, err := s.compile("\nawait new Promise((r) => setTimeout(r, 3600000))").Run(t.Context(), s.ada.Context())
	require.ErrorContains(t, err, "test.js: resource exhausted: the script ran for longer than 500ms")
}

func TestDate_IsInTheZoneOfTheOptions(t *testing.T) {
	t.Parallel()
	taipei, err := time.LoadLocation("Asia/Taipei")
	require.NoError(t, err)
	const source = "return [new Date(0).getHours(), new Date(2026, 0, 1).toISOString()]"
	require.JSONEq(t, `[0,"2026-01-01T00:00:00.000Z"]`, newStage(t, script.Options{}).returns(source))
	require.JSONEq(t, `[8,"2025-12-31T16:00:00.000Z"]`, newStage(t, script.Options{Zone: taipei}).returns(source))
}
