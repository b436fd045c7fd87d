package boterr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

func TestCodeOf_ThroughWrapping(t *testing.T) {
	t.Parallel()
	for _, code := range boterr.Codes() {
		err := fmt.Errorf("outer: %w", boterr.Wrap("getMember", boterr.New(code, "memberId", "there is no member %q", "m1")))
		require.ErrorIs(t, err, code)
		for _, other := range boterr.Codes() {
			if other != code {
				require.NotErrorIs(t, err, other)
			}
		}
	}
}

func TestIs_CauseBehindTheCode(t *testing.T) {
	t.Parallel()
	err := boterr.New(boterr.Unavailable, "", "the store did not answer: %w", io.ErrUnexpectedEOF)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	found, ok := boterr.AsError(fmt.Errorf("outer: %w", err))
	require.True(t, ok)
	require.Equal(t, boterr.Unavailable, found.Code)
}

func TestError_Text(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"getMember: not found: memberId: none":      boterr.Wrap("getMember", boterr.New(boterr.NotFound, "memberId", "none")),
		"invalid argument: filter.age.$gt: unknown": boterr.PrefixField("filter", boterr.Invalid("age.$gt", "unknown")),
		"invalid argument: data[2]._id: twice":      boterr.PrefixField("data", boterr.PrefixField("[2]", boterr.Invalid("_id", "twice"))),
		"resource exhausted":                        &boterr.Error{Code: boterr.ResourceExhausted},
		"send: canceled: context deadline exceeded": boterr.Wrap("send", context.DeadlineExceeded),
	} {
		require.EqualError(t, err, want)
	}
}

func TestWrap_KeepsFirstOperation(t *testing.T) {
	t.Parallel()
	inner := boterr.Wrap("patchMembers", boterr.Invalid("patch", "is missing"))
	require.Same(t, inner, boterr.Wrap("outer", inner))
	var wrapped *boterr.Error
	require.ErrorAs(t, boterr.Wrap("outer", fmt.Errorf("step 2: %w", boterr.Invalid("patch.a", "bad"))), &wrapped)
	require.Equal(t, "outer", wrapped.Op)
	require.Equal(t, boterr.InvalidArgument, wrapped.Code)
	require.Equal(t, "patch.a", wrapped.Field)
	require.NoError(t, boterr.Wrap("outer", nil))
	require.NoError(t, boterr.PrefixField("field", nil))
}

func TestWrap_LeavesTheGiven(t *testing.T) {
	t.Parallel()
	err := boterr.Invalid("a", "bad")
	_ = boterr.Wrap("op", boterr.PrefixField("filter", err))
	require.EqualError(t, err, "invalid argument: a: bad")
}

func TestWithField_ReplacesField(t *testing.T) {
	t.Parallel()
	inner := boterr.New(boterr.NotFound, "memberId", "there is no member m1 here")
	requireError(t, boterr.WithField("member._id", inner), boterr.NotFound, "member._id", "there is no member m1 here")
	requireError(t, boterr.WithField("", inner), boterr.NotFound, "", "there is no member m1 here")
	require.Equal(t, "memberId", inner.Field, "the error that was given is as it was")
	require.NoError(t, boterr.WithField("member", nil))
}

func TestWithField_KeepsWhatStandsAround(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("reading the host's members: %w", boterr.New(boterr.NotFound, "id", "there is no member m1"))
	requireError(t, boterr.WithField("memberId", wrapped), boterr.NotFound, "memberId",
		"reading the host's members: not found: id: there is no member m1")
	requireError(t, boterr.WithField("memberId", io.EOF), boterr.Internal, "memberId", "EOF")
}

func TestMissing_SaysWhatToGive(t *testing.T) {
	t.Parallel()
	requireError(t, boterr.Missing("type", "the platform, such as %q", "webchat"),
		boterr.InvalidArgument, "type", `is missing; give the platform, such as "webchat"`)
}

func requireError(t *testing.T, err error, code boterr.Code, field, sentence string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, []string{string(code), field, sentence}, []string{string(e.Code), e.Field, e.Message()})
}

func TestError_NilPointer(t *testing.T) {
	t.Parallel()
	var none *boterr.Error
	for _, err := range []error{none, boterr.PrefixField("a", none), boterr.Wrap("op", none), fmt.Errorf("outer: %w", none)} {
		require.Equal(t, boterr.Internal, boterr.CodeOf(err))
		require.ErrorContains(t, err, "return nil itself")
		require.NotErrorIs(t, err, boterr.NotFound)
	}
	require.Empty(t, none.Message())
}

func TestError_CutInASentence(t *testing.T) {
	t.Parallel()
	type id string
	long := strings.Repeat("ß", 100_000)
	for _, arg := range []any{long, id(long)} {
		err := boterr.New(boterr.NotFound, "", "there is no %q: %w", arg, io.EOF)
		require.Less(t, len(err.Error()), 600)
		require.True(t, strings.HasSuffix(err.Error(), `ß...": EOF`), "%v", err)
		require.ErrorIs(t, err, io.EOF)
	}
	secret := boterr.Invalid("", "%s", "mongodb://root:"+strings.Repeat("S3CRET", 100)+"@db.example.com")
	require.NotContains(t, secret.Error(), "S3CRET")
}

// Redacting takes about a microsecond per byte, and a script may pass megabytes.
func TestError_LongArgumentIsNotRedactedAsAWhole(t *testing.T) {
	t.Parallel()
	err := boterr.New(boterr.NotFound, "", "there is no %q", strings.Repeat("apikey=a&", 1<<20))
	require.Less(t, len(err.Error()), 600)
	secret := boterr.Invalid("", "%s", strings.Repeat("token=x ", 990)+"mongodb://root:"+strings.Repeat("S3CRET", 100)+"@db.example.com")
	require.NotContains(t, secret.Error(), "S3CRET")
	secret = boterr.Invalid("", "%s", "token="+strings.Repeat("x", 7_900)+" mongodb://root:"+strings.Repeat("S3CRET", 100)+"@db.example.com")
	require.NotContains(t, secret.Error(), "S3CRET")
}

// A path may contain names of any length from a caller's data.
func TestError_LongFieldIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ß", 100_000)
	for _, err := range []error{
		boterr.Invalid(long, "is wrong"), boterr.WithField(long, io.EOF),
		boterr.PrefixField("filter", boterr.PrefixField(long, boterr.Invalid("x", "is wrong"))),
	} {
		require.Less(t, len(err.Error()), 1100)
		require.Contains(t, err.Error(), "ß...", "%v", err)
	}
}

func TestCodeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want boterr.Code
	}{
		{nil, ""},
		{boterr.New(boterr.Conflict, "", "late"), boterr.Conflict},
		{fmt.Errorf("x: %w", boterr.AlreadyExists), boterr.AlreadyExists},
		{context.Canceled, boterr.Canceled},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), boterr.Canceled},
		{errors.New("unknown"), boterr.Internal},
	} {
		require.Equal(t, c.want, boterr.CodeOf(c.err), "%v", c.err)
	}
}

func TestJSON_ReadsBack(t *testing.T) {
	t.Parallel()
	err := boterr.Wrap("getMember", boterr.New(boterr.NotFound, "memberId", "there is no member m1"))
	text, failed := json.Marshal(err)
	require.NoError(t, failed)
	require.JSONEq(t, `{"op":"getMember","code":"NotFound","field":"memberId","message":"there is no member m1"}`, string(text))
	var read boterr.Error
	require.NoError(t, json.Unmarshal(text, &read))
	require.EqualError(t, &read, err.Error())
	require.ErrorIs(t, &read, boterr.NotFound)
}

func TestJSON_UnknownCode(t *testing.T) {
	t.Parallel()
	var read boterr.Error
	require.NoError(t, json.Unmarshal([]byte(`{"code":"Teapot","message":"short and stout"}`), &read))
	require.EqualError(t, &read, "internal: short and stout")
}

func TestError_ShowsNoCredential(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`Post "https://api.example.com/send?access_token=S3CRET99&x=1": timeout`,
		`dial mongodb://root:S3CRET99@db.example.com/app: refused`,
		`401 with Authorization: Bearer S3CRET99.abc`,
		`basic S3CRET99Zm9v is wrong`,
		`{"accessToken":"S3CRET99"} was refused`,
		`appSecret=S3CRET99, app=1`,
		`api_key: 'S3CRET99 with space'`,
		`password = S3CRET99`,
		`get https://example.com/it's?it's=S3CRET99`,
		`get https://it's:S3CRET99@example.com/`,
		`{"token":"a\"S3CRET99"}`,
		`{"token":"a\\","secret":"S3CRET99"}`,
		`{"tokens":["a","b]c\"S3CRET99"]}`,
		`{"tokens": ["a", "S3CRET99`,
		`{"pwd":"cut off S3CRET99`,
		`{"credentials":"S3CRET99"}`,
		`{"body":"{\"password\":\"a S3CRET99\"}"}`,
		`{"body":"{\"password\":\"a\\\"S3CRET99\"}"}`,
		`{"body":"{\\\"password\\\": \\\"S3CRET99\\\"}"}`,
	} {
		err := boterr.New(boterr.Unavailable, "", "%s", text)
		require.NotContains(t, err.Error(), "S3CRET99")
		require.Contains(t, err.Error(), "[redacted]")
		written, failed := json.Marshal(err)
		require.NoError(t, failed)
		require.NotContains(t, string(written), "S3CRET99")
	}
}

// busyError is an error with a RetryAfter method.
type busyError struct{ wait time.Duration }

func (b busyError) Error() string             { return "busy" }
func (b busyError) RetryAfter() time.Duration { return b.wait }

func TestRetryAfter_OfAnErrorInTheChain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		wait time.Duration
	}{
		"none":              {nil, 0},
		"says nothing":      {errors.New("gone"), 0},
		"behind a code":     {boterr.New(boterr.ResourceExhausted, "", "too many: %w", busyError{5 * time.Minute}), 5 * time.Minute},
		"longer than hours": {busyError{48 * time.Hour}, time.Hour},
		"in the past":       {busyError{-time.Second}, 0},
	} {
		require.Equal(t, row.wait, boterr.RetryAfter(row.err), name)
	}
}
