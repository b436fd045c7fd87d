package charlie_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestError_CodeOfRefusal(t *testing.T) {
	t.Parallel()
	for word, code := range map[string]boterr.Code{
		"channel_not_found": boterr.NotFound,
		"message_not_found": boterr.NotFound,
		"is_archived":       boterr.FailedPrecondition,
		"not_in_channel":    boterr.FailedPrecondition,
		"invalid_auth":      boterr.FailedPrecondition,
		"token_revoked":     boterr.FailedPrecondition,
		"token_of_new_kind": boterr.FailedPrecondition,
		"missing_scope":     boterr.FailedPrecondition,
		"accesslimited":     boterr.FailedPrecondition,
		"of_a_new_kind":     boterr.FailedPrecondition,
		"msg_too_long":      boterr.InvalidArgument,
		"invalid_blocks":    boterr.InvalidArgument,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s := newTool()
			connector := s.start(t)
			for range 5 {
				s.next(refuses(word))
			}
			_, err := connector.Send(t.Context(), to("C1", send.Text("Hello")))
			require.ErrorIs(t, err, code)
			require.ErrorContains(t, err, word)
			isAboutTheToken := slices.Contains([]string{"invalid_auth", "token_revoked", "token_of_new_kind"}, word)
			require.Equal(t, isAboutTheToken, strings.Contains(err.Error(), "store the new token in the channel's info"))
			require.Equal(t, code == boterr.NotFound || word == "is_archived", send.IsGone(err))
			_, err = connector.UpdateMessage(t.Context(), workspace(), send.MessageUpdate{Text: "x"})
			require.ErrorIs(t, err, code)
			require.ErrorIs(t, connector.RecallTicket(t.Context(), workspace(), livechat.Ticket{}), code)
			require.ErrorIs(t, connector.ArchiveConversation(t.Context(), workspace(), "C1"), code)
			_, err = connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{})
			require.ErrorIs(t, err, code)
			require.Len(t, s.called(), 5, "nothing is repeated")
		})
	}
}

func TestError_UnknownWordIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := newTool()
	s.next(refuses("<b>no</b>"))
	_, err := s.start(t).Send(t.Context(), to("C1", send.Text("Hello")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.NotContains(t, err.Error(), "<b>")
}

func TestError_PathOfRefusedBlocks(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t)
	refusal := answer{status: http.StatusOK, body: `{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":` +
		`["[ERROR] must be more than 0 characters [json-pointer:/blocks/0/text/text]"]}}`}
	s.next(refusal, refusal, refuses("invalid_blocks"), refuses("msg_too_long"), refuses("too_many_attachments"))
	own := send.Other("POLL", document.O("blocks", document.A(), "attachments", document.A()))
	for _, c := range []struct {
		response send.Response
		field    string
	}{
		{own, "blocks[0].text.text"},
		{send.Buttons("x", send.Postback("A", "a")), ""},
		{own, "blocks"},
		{send.Text("x"), "text"},
		{own, "attachments"},
	} {
		_, err := connector.Send(t.Context(), to("C1", c.response))
		found, ok := boterr.AsError(err)
		require.True(t, ok)
		require.Equal(t, boterr.InvalidArgument, found.Code)
		require.Equal(t, c.field, found.Field)
	}
}

func TestError_ShowsAllDetails(t *testing.T) {
	t.Parallel()
	s := newTool()
	details := []string{strings.Repeat("a", 150), strings.Repeat("b", 150), strings.Repeat("c", 150)}
	s.next(answer{status: http.StatusOK, body: `{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["` +
		strings.Join(details, `","`) + `"]}}`})
	_, err := s.start(t).Send(t.Context(), to("C1", send.Text("Hello")))
	for _, detail := range details {
		require.ErrorContains(t, err, detail)
	}
}

func failures() connectortest.Failures {
	return connectortest.Failures{
		Over: func(t *testing.T, transport connectortest.RoundTrip) send.Connector {
			t.Helper()
			return over(t, charlie.Config{Timeout: connectortest.Timeout}, transport)
		},
		At: func(t *testing.T, url string) (send.Connector, send.Message) {
			t.Helper()
			return connectortest.New(t, charlie.New, charlie.Config{APIURL: url}), to("C1", send.Text("Hello"))
		},
		Message: to("C1", send.Text("Hello")), Endless: `{"a":"`, Secret: token,
		Unreadable: map[string]string{"nothing": "", "no ok": `{}`, "an internal error": `{"ok":false,"error":"internal_error"}`},
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	failures().Run(t)
}

func FuzzAnswer(f *testing.F) {
	failures().Fuzz(f, taken, `{"ok":[]}`, `null`, token, `{"ok":false,"error":"`+token+`"}`,
		`{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["`+token+`"]}}`)
}

func TestError_FailureWithAnOK(t *testing.T) {
	t.Parallel()
	s := newTool()
	s.next(answer{status: http.StatusInternalServerError, body: taken})
	_, err := s.start(t).Send(t.Context(), to("C1", send.Text("Hello")))
	connectortest.RequireNoCode(t, err)
	require.Len(t, s.called(), 1)
}

func over(t *testing.T, config charlie.Config, f connectortest.RoundTrip) *charlie.Connector {
	t.Helper()
	config.HTTPClient = &http.Client{Transport: f}
	return connectortest.New(t, charlie.New, config)
}

const taken = `{"ok":true,"channel":"C1","ts":"1.000002"}`

func TestSend_AcceptedWhateverTheAnswer(t *testing.T) {
	t.Parallel()
	s := newTool()
	s.next(answer{status: http.StatusOK, body: `{"ok":true,"channel":"C1","ts":"1.000002","message":{"text":["of a new kind"]}}`})
	delivery, err := s.start(t).Send(t.Context(), to("C1", send.Text("Hello")))
	require.NoError(t, err)
	require.Equal(t, "1.000002", delivery.MessageID)
	require.Equal(t, "UBOT", delivery.From, "that of the channel's info")
}

func TestRateLimit_IsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retryAfter []string
		body       string
		waited     time.Duration
	}{
		"seconds":         {[]string{"7"}, "", 14 * time.Second},
		"nothing to wait": {[]string{"0"}, "", 0},
		"no time":         {nil, "", 2 * time.Second},
		"a date":          {[]string{"Sat, 01 Jan 2000 00:00:07 GMT"}, "", 7 * time.Second},
		"a date gone by":  {[]string{"Fri, 31 Dec 1999 23:59:59 GMT"}, "", 0},
		"less than none":  {[]string{"-5"}, "", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				connector := over(t, charlie.Config{}, func(*http.Request) (*http.Response, error) {
					asked++
					if asked < 3 {
						return connectortest.Response(http.StatusTooManyRequests, http.Header{"Retry-After": c.retryAfter}, c.body), nil
					}
					return connectortest.Response(http.StatusOK, nil, taken), nil
				})
				began := time.Now() //nolint:forbidigo // Virtual time.
				ctx := (&timelimit.Rule{Most: 5 * time.Second, Over: boterr.New(boterr.Unavailable, "", "late"), IsPausable: true}).Begin(t.Context())
				_, err := connector.Send(ctx, to("C1", send.Text("Hello")))
				require.NoError(t, ctx.End(err), "a wait that the tool asks for is no time of the call")
				require.Equal(t, c.waited, time.Since(began)) //nolint:forbidigo // Virtual time.
			})
		})
	}
}

func TestRateLimit_Lasts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer answer
		asked  int
	}{
		"each time":     {limits("2"), 4},
		"in words":      {refuses("ratelimited"), 4},
		"for too long":  {limits("31"), 1},
		"for all times": {limits("18446744074"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				connector := over(t, charlie.Config{}, func(*http.Request) (*http.Response, error) {
					asked++
					return connectortest.Response(c.answer.status, c.answer.header.Clone(), c.answer.body), nil
				})
				_, err := connector.Send(t.Context(), to("C1", send.Text("Hello")))
				require.ErrorIs(t, err, boterr.ResourceExhausted)
				require.Equal(t, c.asked, asked)
			})
		})
	}
}

func TestRateLimit_ContextEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		limiting := connectortest.Answer(http.StatusTooManyRequests, http.Header{"Retry-After": {"20"}}, "")
		_, err := over(t, charlie.Config{}, limiting).Send(ctx, to("C1", send.Text("Hello")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, charlie.New, map[string]charlie.Config{
		"APIURL": {APIURL: "ftp://x"}, "Timeout": {Timeout: -1}, "MaxWait": {MaxWait: -1}, "MaxWaits": {MaxWaits: -1},
	})
}
