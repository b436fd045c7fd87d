package fakes_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// handedOut is what a platform and those on it hand to tests, of each kind something.
func handedOut(t *testing.T) map[string]any {
	t.Helper()
	ctx := t.Context()
	p, ada := bookedBy(t)
	grace := p.AddAgent("desk", "Grace")
	_, err := ada.Context().SavePostCommentAnalytics(ctx, send.SavePostCommentAnalyticsParams{Comment: "Nice", FbID: "u-1", Name: "Ada", PostID: "post-1"})
	require.NoError(t, err)
	assignments, err := ada.Context().GetAssignmentsByMemberID(ctx, livechat.GetAssignmentsByMemberIDParams{MemberID: ada.ID()})
	require.NoError(t, err)
	queue := p.Queue("desk")
	grace.Takes(grace.Ticket())
	return map[string]any{
		"Actor.Agendas": ada.Agendas(), "Actor.Member": ada.Member(), "Actor.Messages": ada.Messages(), "Agent.Messages": grace.Messages(),
		"Agent.Tickets": grace.Tickets(), "Agent.Taps": ada.Tappables(), "Platform.Queue": queue, "Platform.PostComments": p.PostComments(),
		"Platform.Mails": p.Mails(), "Platform.Files": p.Files(), "Account.Payments": p.Account("shop").Payments(),
		"Platform.Sent": p.Sent(), "Platform.Calls": p.Calls(botctx.OpNewAgenda, botctx.OpCreateAssignment), "Platform.Choices": p.Choices(),
		"Platform.Groups": p.Groups("desk"), "Platform.Since": p.Since(fakes.New().Snapshot()), "Platform.Planned": p.Planned(),
		"GetAssignmentsByMemberID": assignments,
	}
}

// A failure shows what a test looked at: no addresses of memory, no bytes, and no times that are numbers alone.
func TestShown_IsReadable(t *testing.T) {
	t.Parallel()
	unreadable := regexp.MustCompile(`0x[0-9a-f]{4,}|\b17672\d{8}\b( [^/]|[^ ])|\[\d+ \d+ \d+ \d+`)
	for name, of := range handedOut(t) {
		for _, verb := range []string{"%v", "%+v", "%#v"} { // require.Empty and Len use the first, Equal and Contains the last.
			require.NotRegexp(t, unreadable, fmt.Sprintf(verb, of), "%s by %s", name, verb)
		}
	}
}

// Data is the bot's own, and exact.
func TestShown_Data(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("visits", document.O("at", 1767225600000))
	require.Contains(t, fmt.Sprint(p.Data("visits")), `"at":1767225600000`)
	require.Contains(t, fmt.Sprintf("%#v", p.Data("visits")), `"at":1767225600000`)
}

// One line of a failure says which agenda it is.
func TestShown_Agendas(t *testing.T) {
	t.Parallel()
	_, ada := bookedBy(t)
	test := &failingTest{}
	require.Empty(test, ada.Agendas())
	require.Contains(t, test.text, `"nodeCompositeId":"reminder","nextRunAt":"2026-01-02T00:00:00.000Z"`)
	require.NotContains(t, test.text, "hush", "credentials are redacted")
}

// failingTest is a test that fails, and goes on.
type failingTest struct{ text string }

func (f *failingTest) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

func (f *failingTest) FailNow() {}
