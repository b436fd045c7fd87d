package botctx_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// statuses are those of each code, and of one in bot logic.
func statuses() map[boterr.Code]struct{ alone, inRun int } {
	return map[boterr.Code]struct{ alone, inRun int }{
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
}

func TestHTTPStatus_OfEachCode(t *testing.T) {
	t.Parallel()
	want := statuses()
	for _, code := range boterr.Codes() {
		require.Contains(t, want, code)
		err := boterr.New(code, "hidden", "hidden")
		require.Equal(t, want[code].alone, botctx.HTTPStatus(err), code)
		require.Equal(t, want[code].alone, botctx.HTTPStatus(fmt.Errorf("wrapped: %w", err)), code)
		inRun := boterr.New(code, "", "hidden: %w", &botctx.RunError{Err: errors.New("hidden")})
		require.Equal(t, want[code].inRun, botctx.HTTPStatus(inRun), "in a run: %s", code)
	}
	require.Equal(t, http.StatusOK, botctx.HTTPStatus(nil))
	require.Equal(t, http.StatusInternalServerError, botctx.HTTPStatus(errors.New("hidden")))
	require.Equal(t, http.StatusInternalServerError, botctx.HTTPStatus(boterr.New("Teapot", "", "hidden")))
	require.Equal(t, http.StatusServiceUnavailable, botctx.HTTPStatus(context.DeadlineExceeded))
}

func TestWriteHTTPError_TellsTheCodeAlone(t *testing.T) {
	t.Parallel()
	for _, code := range boterr.Codes() {
		w := httptest.NewRecorder()
		botctx.WriteHTTPError(w, boterr.New(code, "hidden", "hidden"))
		require.Equal(t, statuses()[code].alone, w.Code, code)
		require.Equal(t, w.Code == http.StatusServiceUnavailable, w.Header().Get("Retry-After") != "", code)
		require.Contains(t, w.Body.String(), `"code":"`+string(code)+`"`)
		require.Contains(t, w.Body.String(), `"message":"`)
		require.NotContains(t, w.Body.String(), "hidden", code)
	}
}

func TestWriteHTTPError_NoError(t *testing.T) {
	t.Parallel()
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
