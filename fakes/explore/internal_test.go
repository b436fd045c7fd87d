package explore

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

func TestSmallest_IsTheLeastThatFails(t *testing.T) {
	t.Parallel()
	all := make([]int, 50)
	for i := range all {
		all[i] = i
	}
	for _, want := range [][]int{{0}, {49}, {3, 4}, {0, 25, 49}, {7, 8, 9, 31}} {
		tries := 0
		got := smallest(all, func(part []int) bool {
			tries++
			return !slices.ContainsFunc(want, func(needed int) bool { return !slices.Contains(part, needed) })
		})
		require.Equal(t, want, got)
		require.Less(t, tries, 200)
	}
	require.Empty(t, smallest(all, func([]int) bool { return true }), "what fails by itself needs nothing")
}

func TestAwait_RunWithoutCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from := time.Now() //nolint:forbidigo // The time of the bubble.
		require.False(t, newRun("", settings{patience: time.Minute}).await(nil))
		require.Equal(t, time.Minute, time.Since(from)) //nolint:forbidigo // The time of the bubble.
	})
}

// allFaults returns a fault of each way, for operations, for services and for events.
func allFaults() []fakes.Fault {
	places := []place{
		{op: botctx.OpSendResponse, n: 2},
		{service: fakes.ServiceMessages, n: 3, isArrival: true},
		{service: fakes.ServicePayments, n: 3, isArrival: true},
	}
	for service := fakes.ServiceStore; service <= fakes.ServiceMessages; service++ {
		places = append(places, place{service: service, n: 7})
	}
	var all []fakes.Fault
	for _, at := range places {
		all = append(all, at.faults()...)
	}
	return all
}

func TestFault_KeyIsReadBack(t *testing.T) {
	t.Parallel()
	all := allFaults()
	read, err := parsePlan(keyOf(all))
	require.NoError(t, err)
	require.Equal(t, all, read)
	for _, key := range []string{
		"", "sendResponse", "sendResponse#0=fails", "sendResponse#x=fails", "nothing#1=fails", "sendResponse#1=sings",
		"sendResponse#1=down", "sendResponse#1=repeats", "Mail#1=repeats",
	} {
		_, err := parsePlan(key)
		require.ErrorContains(t, err, "is not a fault", key)
	}
}

func TestFaults_PrintWhatInjectsThem(t *testing.T) {
	t.Parallel()
	for _, one := range allFaults() {
		p := fakes.New()
		require.False(t, p.Inject(one).Met(), "%#v", one)
		require.Len(t, p.Planned(), 1, "%#v", one)
		require.Contains(t, linesOf([]fakes.Fault{one}), fmt.Sprintf("p.Inject(%#v)", one))
	}
}

func TestChanges_KeyIsReadBack(t *testing.T) {
	t.Parallel()
	changes := []change{{1, 0}, {17, 3}}
	read, err := parseChanges(keyOfChanges(changes))
	require.NoError(t, err)
	require.Equal(t, changes, read)
	for _, key := range []string{"", "1", "1>", "a>b", "1>-1", "0>1", "-1>0", "1>0x", "1>0>2"} {
		_, err := parseChanges(key)
		require.ErrorContains(t, err, "is not a change of turns", key)
	}
}

func TestPlaces_AreNumberedAsFaultsAre(t *testing.T) {
	t.Parallel()
	var found places
	found.counts = map[place]int{}
	for _, name := range []string{"ensureIndex inbox", "find members", "update members"} {
		found.addRequest(t.Context(), fakes.Request{Service: fakes.ServiceStore, Name: name})
	}
	found.addRequest(t.Context(), fakes.Request{Service: fakes.ServiceMessages, Name: "ask desk"})
	found.addRequest(t.Context(), fakes.Request{Service: fakes.ServiceMessages, Name: "send to ada"})
	found.addCall(t.Context(), botctx.OpGetMember)
	require.Equal(t, []place{
		{service: fakes.ServiceStore, n: 2, isRead: true},
		{service: fakes.ServiceStore, n: 3},
		{service: fakes.ServiceMessages, n: 1},
		{service: fakes.ServiceMessages, n: 2},
		{op: botctx.OpGetMember, n: 1, isRead: true},
	}, found.list)
}
