package botctx_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// secondCalls change the parameters of the least call of an operation, so that a second one
// does something else. Operations that are not here do something else by the same parameters.
func secondCalls() map[string]func(t *testing.T, s *shop, args string) string {
	toBob := func(name string) func(*testing.T, *shop, string) string {
		return func(t *testing.T, _ *shop, args string) string { t.Helper(); return toMember(t, name, args, "bob") }
	}
	set := func(name, value string) func(*testing.T, *shop, string) string {
		return func(t *testing.T, _ *shop, args string) string { t.Helper(); return with(t, args, name, "%s", value) }
	}
	return map[string]func(t *testing.T, s *shop, args string) string{
		"alphaGetAttachmentId":    set("url", `"https://shop.example/pot.png"`),
		"alphaPassThreadControl":  toBob("alphaPassThreadControl"),
		"alphaSaveCustomLabel":    set("labelId", `"coffee"`),
		"EchoSaveMemberTag":       set("tagId", `8`),
		"updateMessage":           set("text", `"So long"`),
		"uploadFileToObjectStore": set("filename", `"8.pdf"`),
		"alphaRemoveCustomLabel": func(t *testing.T, s *shop, args string) string {
			t.Helper()
			callf(t, s.bob.Context(), "alphaSaveCustomLabel", args)
			return toMember(t, "alphaRemoveCustomLabel", args, "bob")
		},
		"charlieArchiveConversation": func(t *testing.T, s *shop, args string) string {
			t.Helper()
			callf(t, s.bob.Context(), "sendResponse", sayHello)
			return with(t, args, "messageEvent", `{"to": %q}`, s.last(t).ChatID)
		},
	}
}

// sameAnswer are the operations whose answer is the same whenever they go well, so that their
// effect alone tells that they did something.
func sameAnswer() []string {
	return []string{
		"alphaPassThreadControl", "alphaRemoveCustomLabel", "charlieArchiveConversation", "EchoSaveMemberTag",
		"sendEmail", "golf", "uploadFileToObjectStore",
	}
}

// isAlive calls an operation twice and reports whether both calls did something, and were
// answered differently where answers can differ.
func isAlive(t *testing.T, name string, options ...fakes.Option) bool {
	t.Helper()
	s, args := newLeast(t, name, options...)
	before := s.state()
	first, err := s.ada.Context().Call(t.Context(), name, json.RawMessage(args))
	require.NoError(t, err)
	didFirst := s.state() != before
	if change := secondCalls()[name]; change != nil {
		args = change(t, s, args)
	}
	before = s.state()
	second, err := s.ada.Context().Call(t.Context(), name, json.RawMessage(args))
	require.NoError(t, err)
	differ := slices.Contains(sameAnswer(), name) || string(first) != string(second)
	return didFirst && s.state() != before && differ
}

// frozen answers each call of an operation with a result of its first one, and does nothing
// then.
func frozen(op botctx.Op) botctx.Interceptor {
	var kept any
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op == op && kept != nil {
			return kept, nil
		}
		result, err := next(ctx)
		if call.Op == op && err == nil {
			kept = result
		}
		return result, err
	}
}

// forgetful runs each call of an operation, and answers with the result of its first one.
func forgetful(op botctx.Op) botctx.Interceptor {
	var kept any
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		result, err := next(ctx)
		if call.Op != op || err != nil {
			return result, err
		}
		if kept == nil {
			kept = result
		}
		return kept, nil
	}
}

// Each operation does something and says what; where its answer is frozen in turn, that is
// seen, so that no constant could pass. What golf does is seen with its client alone, of which
// its scene tells.
func TestNoSendIsAnsweredByAConstant(t *testing.T) {
	t.Parallel()
	for _, operation := range sendingOperations() {
		if operation.Name == "golf" {
			continue
		}
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			op := botctx.Op(operation.Name)
			require.True(t, isAlive(t, operation.Name))
			require.False(t, isAlive(t, operation.Name, interceptedBy(frozen(op))))
			if !slices.Contains(sameAnswer(), operation.Name) {
				require.False(t, isAlive(t, operation.Name, interceptedBy(forgetful(op))))
			}
		})
	}
}
