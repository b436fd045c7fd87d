package fakes_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
)

// thousandWorlds is how many platforms there are at once where tests are thorough.
const thousandWorlds = 1000

// worldsAlone is set where the test runs in a process of its own, in which other tests have no goroutines.
const worldsAlone = "BOTCTX_WORLDS_ALONE"

// Each of many worlds that run at once is as it would be alone, and none leaves a goroutine behind. The test runs
// itself again in a process of its own, to see all goroutines and none of other tests.
func TestWorlds_ThousandAtOnceLeaveNoGoroutine(t *testing.T) {
	t.Parallel()
	worlds := rounds.Of(t, 150, thousandWorlds)
	if os.Getenv(worldsAlone) == "" {
		alone := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		alone.Env = append(os.Environ(), worldsAlone+"=1")
		printed, err := alone.CombinedOutput()
		require.NoError(t, err, string(printed))
		require.Contains(t, string(printed), fmt.Sprintf("%d worlds, no goroutine left", worlds))
		return
	}
	want := inWorld(t)
	all := make([]string, worlds)
	var at sync.WaitGroup
	for i := range all {
		at.Go(func() { all[i] = inWorld(t) })
	}
	at.Wait()
	for _, transcript := range all {
		require.Equal(t, want, transcript)
	}
	require.Empty(t, goroutinesOfSDK(), "goroutines are left")
	t.Logf("%d worlds, no goroutine left", worlds)
}

// inWorld lets something of each kind happen in a world: a turn, agendas, a fork, a crash, a live chat. It returns what
// happened there.
func inWorld(t *testing.T) string {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.Handle(nodes()...)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	fork := p.Fork()
	ada.Says("coupon")
	ada.In(fork).Says("coupon")
	ada.Sees("Your code: SPRING")
	p.Advance(24 * time.Hour)
	bob, grace := desk(p)
	grace.AddConversation(bob)
	bob.Says("Help!")
	grace.Sees("Help!")
	p.Crash()
	p.Restart()
	p.Advance(time.Hour)
	return p.Transcript() + fork.Transcript()
}

// goroutinesOfSDK returns the stacks of the goroutines that run code of the SDK, but for the caller's own. One that is
// about to end gets the time to.
func goroutinesOfSDK() (left []string) {
	for range 1000 {
		if left = stacksOfSDK(); len(left) == 0 {
			return nil
		}
		runtime.Gosched()
	}
	return left
}

// The check of the test above sees a goroutine that is left.
func TestWorlds_GoroutineThatIsLeftIsSeen(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	var left sync.WaitGroup
	left.Go(func() { waitFor(end) })
	isSeen := func(stack string) bool { return strings.Contains(stack, "waitFor") }
	for !slices.ContainsFunc(stacksOfSDK(), isSeen) {
		runtime.Gosched() // Until it has begun.
	}
	close(end)
	left.Wait()
}

func waitFor(end chan struct{}) { <-end }

func stacksOfSDK() (left []string) {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 2)
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, "botctx/go-sdk") && !strings.Contains(stack, "stacksOfSDK") && !strings.Contains(stack, "testing.tRunner") &&
			!strings.Contains(stack, "testing.(*T).Run") {
			left = append(left, stack)
		}
	}
	return left
}
