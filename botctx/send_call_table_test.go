package botctx_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

// outgoingCases returns the case of each operation of package send, and of each utility.
func outgoingCases() map[string]chatCase {
	all := map[string]chatCase{}
	for _, part := range []map[string]chatCase{responseCases(), alphaCases(), platformCases(), utilityCases()} {
		maps.Copy(all, part)
	}
	return all
}

func TestEachSendAndUtilityIsShownByCalls(t *testing.T) {
	t.Parallel()
	cases := outgoingCases()
	for _, operation := range sendingOperations() {
		shown, ok := cases[operation.Name]
		require.True(t, ok, "%s has no case", operation.Name)
		delete(cases, operation.Name)
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			shown.run(t, operation)
		})
	}
	require.Empty(t, cases, "these are neither sends nor utilities")
}

// toOnePlatform are the refusals of operations that one platform has.
func toOnePlatform(name string) []refusal {
	return []refusal{
		{boterr.NotFound, "does not exist in the app", callInVain(name)},
		{boterr.Unsupported, "is not of type", callElsewhere(name)},
	}
}

// toMembers are the refusals of operations for members.
func toMembers(name string) []refusal {
	return append(toOnePlatform(name),
		refusal{boterr.InvalidArgument, "is in another channel", callToOtherChannel(name)},
		refusal{boterr.FailedPrecondition, "has no id on the platform", callToNoID(name)},
	)
}

// ofMessages are the refusals of operations that send.
func ofMessages(name string) []refusal {
	return []refusal{
		{boterr.InvalidArgument, "breaks a limit", callTooLong(name)},
		{boterr.ResourceExhausted, "rate limit", callBeyondRate(name)},
	}
}

// responseCases are those of the operation that sends on every platform.
func responseCases() map[string]chatCase {
	const name = "sendResponse"
	return map[string]chatCase{name: {
		scenes: map[string]scene{
			"several members get one message each": callToSeveral,
			"Alpha is told why":                    callWithMessaging,
		},
		refusals: append(ofMessages(name),
			refusal{boterr.NotFound, "does not exist in the app", callInVain(name)},
			refusal{boterr.InvalidArgument, "name different records", callContradicting(name)},
			refusal{boterr.InvalidArgument, "is in another channel", callToSomeUnknown},
			refusal{boterr.FailedPrecondition, "has no id on the platform", callToNoID(name)},
			refusal{boterr.Unsupported, "no connector", callToPigeon},
			refusal{boterr.Unavailable, "did not answer", callWhileDisconnected(name)},
			refusal{boterr.Unavailable, "some of several members", callToSomeInVain(name)},
		),
	}}
}
