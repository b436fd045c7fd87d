package botctx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

// sendingBy is a connector made of a function.
type sendingBy func(ctx context.Context, message send.Message) error

func (s sendingBy) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return send.Delivery{}, s(ctx, message)
}

// doerFunc is an HTTP client made of a function.
type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(request *http.Request) (*http.Response, error) { return f(request) }

// storeFunc is an object store made of a function.
type storeFunc func(context.Context, utility.StoredFile) error

func (f storeFunc) Put(ctx context.Context, file utility.StoredFile) error { return f(ctx, file) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// hangs waits until ctx ends, like a service that never answers.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// takes waits for d, or until ctx ends.
func takes(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func webchat(connector send.Connector) botctx.Config {
	return botctx.Config{Store: memstore.New(), Connectors: send.Connectors{channel.Webchat: connector}}
}

// requireLate requires the error of a call that exceeded the default MaxSend.
func requireLate(t *testing.T, op string, err error) {
	t.Helper()
	e, _ := boterr.AsError(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, op, e.Op)
	require.Equal(t, boterr.Unavailable, e.Code)
	require.ErrorContains(t, err, " took longer than Config.MaxSend (15s), so the request may or may not have succeeded: ")
}

func TestMaxSend_EndsACallAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cause error
		runtime, ada := shopWith(t, webchat(sendingBy(func(ctx context.Context, message send.Message) error {
			if message.Response.Text() != "slow" {
				return nil
			}
			err := hangs(ctx)
			cause = context.Cause(ctx)
			return err
		})))
		var failed error
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			failed = bot.Reply(ctx, send.Text("slow"))
			return bot.Reply(ctx, send.Text("sorry"))
		})
		begun := ada.Now()
		require.NoError(t, runtime.Receive(t.Context(), said("hi")))
		require.Equal(t, 15*time.Second, ada.Now().Sub(begun))
		requireLate(t, "sendResponse", failed)
		require.ErrorContains(t, failed, "the platform of type webchat")
		requireLate(t, "", cause)
	})
}

func TestMaxSend_BoundsEachService(t *testing.T) {
	t.Parallel()
	for op, call := range map[string]func(ctx context.Context, bot *botctx.Context) error{
		"sendResponse": func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("hi")) },
		"sendEmail": func(ctx context.Context, bot *botctx.Context) error {
			text := utility.EmailText{Data: "Hello"}
			_, err := bot.SendEmail(ctx, utility.SendEmailParams{
				Destination: utility.EmailDestination{ToAddresses: []string{"ada@orchard.example"}},
				Message:     utility.EmailMessage{Subject: text, Body: utility.EmailBody{Text: &text}},
			})
			return err
		},
		"charge": func(ctx context.Context, bot *botctx.Context) error {
			account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
			require.NoError(t, err)
			_, err = account.Client.Charge(ctx, utility.Charge{Amount: 1, Currency: "eur", PaymentMethod: "card"})
			return boterr.Wrap("charge", err)
		},
		"refund": func(ctx context.Context, bot *botctx.Context) error {
			account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
			require.NoError(t, err)
			_, err = account.Client.Refund(ctx, utility.Refund{PaymentID: "p1"})
			return boterr.Wrap("refund", err)
		},
		"payment": func(ctx context.Context, bot *botctx.Context) error {
			account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
			require.NoError(t, err)
			_, err = account.Client.Payment(ctx, "p1")
			return boterr.Wrap("payment", err)
		},
		"alphaGetAttachmentId": func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.AlphaGetAttachmentID(ctx, send.AlphaGetAttachmentIDParams{
				Channel: &channel.Channel{ID: "alpha"}, Type: "image", URL: "https://shop.example/a.png",
			})
			return err
		},
		"createBravoGroup": func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: "bravo", Name: "Orders"})
			return err
		},
	} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bot := hungHost(t)
				begun := bot.Now()
				requireLate(t, op, call(t.Context(), bot))
				require.Equal(t, 15*time.Second, bot.Now().Sub(begun))
			})
		})
	}
}

// hung implements the ports of a host. Its methods never return before ctx ends.
type hung struct{}

func (hung) Send(ctx context.Context, _ send.Message) (send.Delivery, error) {
	return send.Delivery{}, hangs(ctx)
}

func (hung) UploadAttachment(ctx context.Context, _ *channel.Channel, _ send.Type, _ string) (string, error) {
	return "", hangs(ctx)
}

func (hung) CreateGroup(ctx context.Context, _ *channel.Channel, _ livechat.NewGroup) (livechat.CreatedGroup, error) {
	return livechat.CreatedGroup{}, hangs(ctx)
}

func (hung) SendMail(ctx context.Context, _ utility.Mail) error { return hangs(ctx) }

func (hung) Charge(ctx context.Context, _ utility.Charge) (*utility.Payment, error) {
	return nil, hangs(ctx)
}

func (hung) Refund(ctx context.Context, _ utility.Refund) (*utility.Payment, error) {
	return nil, hangs(ctx)
}

func (hung) Payment(ctx context.Context, _ string) (*utility.Payment, error) { return nil, hangs(ctx) }

// hungHost returns Ada's context on a host whose services are all hung.
func hungHost(t *testing.T) *botctx.Context {
	t.Helper()
	runtime, ada := shopWith(t, botctx.Config{
		Store:      memstore.New(),
		Connectors: send.Connectors{channel.Webchat: hung{}, channel.Alpha: hung{}, channel.Bravo: hung{}},
		Mailer:     hung{},
		Payments:   func(string, string) (utility.PaymentClient, error) { return hung{}, nil },
	})
	for _, platform := range []channel.Type{channel.Alpha, channel.Bravo} {
		saveChannel(t, runtime, channel.Channel{ID: string(platform), Type: platform})
	}
	return ada
}

// The limit includes the body of the response: a body that never ends exceeds it.
func TestMaxSend_BoundsRequestsOfLiveChats(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]doerFunc{
		"no answer": func(request *http.Request) (*http.Response, error) { return nil, hangs(request.Context()) },
		"no end": func(request *http.Request) (*http.Response, error) {
			rest := readerFunc(func([]byte) (int, error) { return 0, hangs(request.Context()) })
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.MultiReader(strings.NewReader("{"), rest))}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config := webchat(hung{})
				config.HTTP = answer
				runtime, ada := shopWith(t, config)
				saveChannel(t, runtime, channel.Channel{
					ID: "desk", Type: channel.Custom, Metadata: document.O("liveChatApi", "https://desk.example/requests"),
				})
				require.NoError(t, runtime.Pair(t.Context(), "shop", "web", "desk"))
				begun := ada.Now()
				_, err := ada.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
				requireLate(t, "createAssignment", err)
				require.Equal(t, 15*time.Second, ada.Now().Sub(begun))
			})
		})
	}
}

// The time that a message waits for a rate limit does not count. Each attempt to send it has the full limit.
func TestMaxSend_QueueDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun []time.Time
		platform := sendingBy(func(ctx context.Context, _ send.Message) error {
			begun = append(begun, time.Now()) //nolint:forbidigo // The clock of synctest.
			if err := takes(ctx, 10*time.Second); err != nil {
				return err
			}
			if len(begun) == 2 {
				return boterr.New(boterr.ResourceExhausted, "", "%w", &send.RetryAfterError{After: time.Second})
			}
			return nil
		})
		_, ada := shopWith(t, webchat(send.Limited(platform, send.Rate{Per: 20 * time.Second})))
		for _, text := range []string{"one", "two"} {
			require.NoError(t, ada.Reply(t.Context(), send.Text(text)))
		}
		require.Len(t, begun, 3)
		require.Equal(t, 20*time.Second, begun[2].Sub(begun[1]))
	})
}

func TestMaxSend_HungPlatformBehindARateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, ada := shopWith(t, webchat(send.Limited(hung{}, send.Rate{Per: 20 * time.Second})))
		for range 2 {
			requireLate(t, "sendResponse", ada.Reply(t.Context(), send.Text("hi")))
		}
	})
}

func TestMaxSend_KeepsWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	refused := boterr.Invalid("text", "is too long")
	for name, c := range map[string]struct {
		said error
		code boterr.Code
	}{
		"success": {nil, ""}, "a refusal": {refused, boterr.InvalidArgument}, "no code": {errors.New("reset"), boterr.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, ada := shopWith(t, webchat(sendingBy(func(context.Context, send.Message) error {
					pass(20 * time.Second) // The connector ignores its ctx.
					return c.said
				})))
				err := ada.Reply(t.Context(), send.Text("hi"))
				require.Equal(t, c.code, boterr.CodeOf(err))
				require.Equal(t, name == "no code", err != nil && strings.Contains(err.Error(), "MaxSend"))
			})
		})
	}
}

func TestMaxSend_EndsWithTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, ada := shopWith(t, webchat(hung{}))
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			bot.Pause(ctx, 50*time.Second)
			return bot.Reply(ctx, send.Text("hi"))
		})
		begun := ada.Now()
		requireOverdue(t, runtime.Receive(t.Context(), said("hi")))
		require.Equal(t, time.Minute, ada.Now().Sub(begun))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, ada.Reply(ctx, send.Text("hi")), boterr.Canceled, "the end of the caller's ctx takes precedence")
	})
}

func TestMaxSend_Default(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		send, run, want time.Duration
	}{
		{0, 0, 15 * time.Second},
		{0, 10 * time.Second, 10 * time.Second},
		{20 * time.Second, 0, 20 * time.Second},
		{2 * time.Minute, -1, 2 * time.Minute},
		{0, -1, 15 * time.Second},
		{-1, 0, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			config := webchat(hung{})
			config.MaxSend, config.MaxRun = c.send, c.run
			_, ada := shopWith(t, config)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			begun := ada.Now()
			require.Error(t, ada.Reply(ctx, send.Text("hi")))
			require.Equal(t, c.want, ada.Now().Sub(begun))
		})
	}
}

// Uploads have Upload.Timeout as their limit, and Fetch the limit of its HTTP client. Both must be shorter than MaxRun.
func TestMaxRun_HoldsTheOtherLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run, upload time.Duration
	}{{0, 45 * time.Second}, {20 * time.Second, 20 * time.Second}, {-1, 45 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			bot := newRuntime(t, botctx.Config{
				MaxRun: c.run,
				HTTP: doerFunc(func(*http.Request) (*http.Response, error) {
					endless := readerFunc(func([]byte) (int, error) { return 0, nil })
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(endless), ContentLength: -1}, nil
				}),
				ObjectStore: storeFunc(func(ctx context.Context, _ utility.StoredFile) error { return hangs(ctx) }),
				LoadChannel: func(_ context.Context, _, id string) (*channel.Channel, error) { return &channel.Channel{ID: id}, nil },
			}).Operations(botctx.Scope{App: "app", Channel: "web"})
			begun := bot.Now()
			_, err := bot.UploadFileToObjectStore(t.Context(), utility.UploadFileToObjectStoreParams{
				URL: "https://shop.example/bill.pdf", Filename: "bill.pdf", ContentType: "application/pdf",
			})
			requireFailure(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "")
			require.Equal(t, c.upload, bot.Now().Sub(begun))
		})
	}
	client, err := outbound.New(outbound.Config{Timeout: 61 * time.Second})
	require.NoError(t, err)
	for field, config := range map[string]botctx.Config{
		"MaxSend":        {MaxSend: 61 * time.Second},
		"Upload.Timeout": {Upload: utility.UploadLimits{Timeout: 61 * time.Second}},
		"HTTP":           {HTTP: client},
	} {
		config.Store = memstore.New()
		_, err := botctx.New(config)
		requireFailure(t, err, "", boterr.InvalidArgument, field)
		require.ErrorContains(t, err, "has a limit of 1m1s, which is longer than MaxRun (1m0s): ")
		config.MaxRun = 2 * time.Minute
		_, err = botctx.New(config)
		require.NoError(t, err)
	}
	_, err = botctx.New(botctx.Config{Store: memstore.New(), HTTP: &http.Client{Timeout: time.Hour}})
	requireFailure(t, err, "", boterr.InvalidArgument, "HTTP")
}

func TestHTTPStatus_OfEachCode(t *testing.T) {
	t.Parallel()
	want := map[boterr.Code]struct{ alone, inRun int }{
		boterr.InvalidArgument:    {400, 500},
		boterr.NotFound:           {404, 500},
		boterr.AlreadyExists:      {409, 500},
		boterr.Conflict:           {409, 409},
		boterr.FailedPrecondition: {409, 500},
		boterr.ResourceExhausted:  {503, 503},
		boterr.Unsupported:        {501, 500},
		boterr.Unavailable:        {503, 503},
		boterr.Canceled:           {503, 503},
		boterr.Internal:           {500, 500},
	}
	for _, code := range boterr.Codes() {
		require.Contains(t, want, code)
		err := boterr.New(code, "hidden", "hidden")
		require.Equal(t, want[code].alone, botctx.HTTPStatus(err), code)
		w := httptest.NewRecorder()
		botctx.WriteHTTPError(w, err)
		require.Equal(t, want[code].alone, w.Code, code)
		require.Equal(t, w.Code == http.StatusServiceUnavailable, w.Header().Get("Retry-After") != "", code)
		require.Regexp(t, `^{"error":{"code":"`+string(code)+`","message":"[^"]+"}}\n$`, w.Body.String())
		require.NotContains(t, w.Body.String(), "hidden", code)
		require.Equal(t, want[code].alone, botctx.HTTPStatus(fmt.Errorf("wrapped: %w", err)), code)
		inRun := boterr.New(code, "", "hidden: %w", &botctx.RunError{Err: errors.New("hidden")})
		require.Equal(t, want[code].inRun, botctx.HTTPStatus(inRun), "in a run: %s", code)
	}
	require.Equal(t, http.StatusOK, botctx.HTTPStatus(nil))
	require.Equal(t, http.StatusInternalServerError, botctx.HTTPStatus(errors.New("hidden")))
	require.Equal(t, http.StatusInternalServerError, botctx.HTTPStatus(boterr.New("Teapot", "", "hidden")))
	require.Equal(t, http.StatusServiceUnavailable, botctx.HTTPStatus(context.DeadlineExceeded))
	w := httptest.NewRecorder()
	botctx.WriteHTTPError(w, nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.JSONEq(t, `{}`, w.Body.String())
}

func TestHTTPStatus_NilPointersThatAreErrors(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"RunError":            (*botctx.RunError)(nil),
		"RunError, wrapped":   fmt.Errorf("wrapped: %w", (*botctx.RunError)(nil)),
		"Error":               (*boterr.Error)(nil),
		"PanicError":          (*boterr.PanicError)(nil),
		"UndeliveredError":    (*send.UndeliveredError)(nil),
		"UnsentError":         (*livechat.UnsentError)(nil),
		"RunError in a chain": boterr.New(boterr.Internal, "", "%w", (*botctx.RunError)(nil)),
	} {
		require.Equal(t, http.StatusInternalServerError, botctx.HTTPStatus(err), name)
		require.NotEmpty(t, err.Error(), name)
	}
}
