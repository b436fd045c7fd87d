package scripttest_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/scripttest"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	clock, another := scripttest.Steps(), scripttest.Steps()
	began := clock()
	for range 3 {
		clock()
	}
	require.Equal(t, 4*scripttest.Step, clock().Sub(began))
	require.Equal(t, began, another())
}

func TestThreadTime_Grows(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for began := scripttest.ThreadTime(); scripttest.ThreadTime() < began+time.Millisecond; {
		runtime.Gosched()
	}
}
