package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

const secret = "EAAtoken"

func caller() graph.Credentials {
	return graph.Credentials{Token: channel.NewSecret(secret), AppSecret: channel.NewSecret("appsecret")}
}

// answering returns a client whose calls go to handler.
func answering(t *testing.T, handler http.HandlerFunc, meanings graph.Meanings) *graph.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := graph.NewClient(graph.Config{URL: server.URL + "/v1.0/", Meanings: meanings})
	require.NoError(t, err)
	return client
}

// answer is a transport that gives every request the same answer.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// callOf returns the error of a call that gets an answer.
func callOf(t *testing.T, a answer) error {
	t.Helper()
	client, err := graph.NewClient(graph.Config{HTTP: &http.Client{Transport: a}})
	require.NoError(t, err)
	_, err = client.Call(t.Context(), caller(), graph.Request{Method: http.MethodGet, Path: []string{"me"}})
	return err
}

func says(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("X-Business-Use-Case-Usage", header)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestSign_IsTheCodeOfTheBytes(t *testing.T) {
	t.Parallel()
	// Made with: printf '%s' '{"text":"\u00e4"}' | openssl dgst -sha256 -hmac secret
	require.Equal(t, "sha256=934256dac49141d9ab4a8342ce253e83a309496fa278bcd80270dae9f2aba975", graph.Sign(channel.NewSecret("secret"), []byte(`{"text":"\u00e4"}`)))
}

func TestCall_SendsTheRequest(t *testing.T) {
	t.Parallel()
	var got *http.Request
	client := answering(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = w.Write([]byte(`{"id":"7"}`))
	}, nil)
	reply, err := client.Call(t.Context(), caller(), graph.Request{
		Method: http.MethodDelete, Path: []string{"a/../b", "label"}, Query: url.Values{"user": {"x&y"}},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"7"}`, reply.String())
	require.Equal(t, "/v1.0/a%2F..%2Fb/label", got.URL.EscapedPath(), "an id stays one segment")
	require.Equal(t, "x&y", got.URL.Query().Get("user"))
	require.Len(t, got.URL.Query().Get("appsecret_proof"), 64)
	require.Equal(t, "Bearer "+secret, got.Header.Get("Authorization"))
}

func TestCall_IDThatLeavesTheAddress(t *testing.T) {
	t.Parallel()
	client := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("the call was made") }, nil)
	_, err := client.Call(t.Context(), caller(), graph.Request{Method: http.MethodGet, Path: []string{"..", "me"}})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestCall_AddressOfTheChannel(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(says(200, "", `{"at":"channel"}`))
	t.Cleanup(other.Close)
	client, err := graph.NewClient(graph.Config{URL: "http://client.test", HTTP: &http.Client{}})
	require.NoError(t, err)
	as := caller()
	as.URL = other.URL
	reply, err := client.Call(t.Context(), as, graph.Request{Method: http.MethodGet, Path: []string{"me"}})
	require.NoError(t, err)
	require.Equal(t, "channel", document.Get(reply, "at", ""))
	as.URL = "ftp://x"
	_, err = client.Call(t.Context(), as, graph.Request{Method: http.MethodGet, Path: []string{"me"}})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

// The host may have chosen both the address and a client that refuses it.
func TestCall_RefusedAddressOfTheHost(t *testing.T) {
	t.Parallel()
	guarded := &http.Client{Transport: outbound.GuardedTransport(outbound.AllowList{})}
	client, err := graph.NewClient(graph.Config{URL: "http://127.0.0.1:1", HTTP: guarded})
	require.NoError(t, err)
	_, err = client.Call(t.Context(), caller(), graph.Request{Method: http.MethodGet, Path: []string{"me"}})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "127.0.0.1")
	require.NotContains(t, err.Error(), "channel's info")
}

func TestCall_MeaningOfAnError(t *testing.T) {
	t.Parallel()
	own := graph.Meanings{
		{Code: 7, Subcode: 70}: {Code: boterr.NotFound, Sentence: "seventy"},
		{Code: 7}:              {Code: boterr.InvalidArgument, Sentence: "seven", RepeatsMessage: true},
		{Code: 190}:            {Code: boterr.Unsupported, Sentence: "before that of the API"},
		{Code: 8}:              {Code: boterr.ResourceExhausted, Sentence: "eight", Wait: time.Second, OfRecipient: true},
	}
	for _, c := range []struct {
		status int
		body   string
		code   boterr.Code
		text   string
	}{
		{400, `{"error":{"code":7,"error_subcode":70}}`, boterr.NotFound, "seventy (code 7/70)"},
		{400, `{"error":{"code":7,"error_subcode":71,"message":"no EAAtoken","error_data":{"details":"too EAAtoken"}}}`, boterr.InvalidArgument, "seven (code 7/71): too [redacted]"},
		{400, `{"error":{"code":190}}`, boterr.Unsupported, "before"},
		{400, `{"error":{"code":190,"error_subcode":463,"message":"EAAtoken"}}`, boterr.FailedPrecondition, "has expired; make"},
		{400, `{"error":{"code":33,"fbtrace_id":"A-b_1"}}`, boterr.FailedPrecondition, "(code 33, call A-b_1)"},
		{400, `{"error":{"code":33,"fbtrace_id":"<b>"}}`, boterr.FailedPrecondition, "(code 33)"},
		{403, `{"error":{"code":299}}`, boterr.FailedPrecondition, "permission"},
		{401, `<html>`, boterr.FailedPrecondition, "token"},
		{404, ``, boterr.NotFound, "nothing with that id"},
		{429, ``, boterr.ResourceExhausted, "rate"},
		{200, `{"error":{"code":2}}`, "", "failed"},
		{500, `{"error":{"code":7777}}`, "", "failed"},
		{200, `7`, "", "cannot be read"},
		{304, ``, "", "failed"},
	} {
		client := answering(t, says(c.status, "", c.body), own)
		_, err := client.Call(t.Context(), caller(), graph.Request{Method: http.MethodGet, Path: []string{"me"}})
		require.ErrorContains(t, err, c.text, c.body)
		require.Equal(t, c.code != "", boterr.HasCode(err), c.body)
		if c.code != "" {
			require.Equal(t, c.code, boterr.CodeOf(err), c.body)
		}
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), secret)
	}
}

// Servers between the host and the API send dates.
func TestCall_DateToWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(7 * time.Second).UTC() //nolint:forbidigo // Virtual time.
		err := callOf(t, answer{status: 429, header: http.Header{"Retry-After": {at.Format(http.TimeFormat)}}})
		require.Equal(t, 7*time.Second, boterr.RetryAfter(err))
	})
}

func TestCall_TimeToWait(t *testing.T) {
	t.Parallel()
	own := graph.Meanings{{Code: 8}: {Code: boterr.ResourceExhausted, Wait: time.Second, OfRecipient: true}}
	for _, c := range []struct {
		code   int
		header string
		want   send.RetryAfterError
	}{
		{4, ``, send.RetryAfterError{After: time.Minute}},
		{4, `{"1":[{"estimated_time_to_regain_access":0}]}`, send.RetryAfterError{After: time.Minute}},
		{4, `{"1":[{"estimated_time_to_regain_access":3},{"estimated_time_to_regain_access":9}],"2":[{}],"3":7}`, send.RetryAfterError{After: 9 * time.Minute}},
		{4, `{"1":[{"estimated_time_to_regain_access":1e300}]}`, send.RetryAfterError{After: time.Hour}},
		{4, `[`, send.RetryAfterError{After: time.Minute}},
		{8, `{"1":[{"estimated_time_to_regain_access":3}]}`, send.RetryAfterError{After: time.Second, OfRecipient: true}},
	} {
		client := answering(t, says(400, c.header, fmt.Sprintf(`{"error":{"code":%d}}`, c.code)), own)
		_, err := client.Call(t.Context(), caller(), graph.Request{Method: http.MethodGet, Path: []string{"me"}})
		hint, ok := errors.AsType[*send.RetryAfterError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, c.want, *hint, c.header)
	}
}

func FuzzCall(f *testing.F) {
	f.Add(400, `{"error":{"message":"x","code":100,"error_subcode":2018001,"fbtrace_id":"A"}}`, `{"1":[{"estimated_time_to_regain_access":3}]}`)
	f.Add(429, `{"error":{"code":4}}`, `{"1":[{"estimated_time_to_regain_access":90}]}`)
	f.Add(200, `{"error":7}`, `[`)
	f.Add(500, ``, ``)
	f.Fuzz(func(t *testing.T, status int, body, usage string) {
		err := callOf(t, answer{status: status, header: http.Header{"X-Business-Use-Case-Usage": {usage}}, body: body})
		if err == nil {
			require.True(t, status >= 200 && status <= 299)
			return
		}
		if hint, isLimited := errors.AsType[*send.RetryAfterError](err); isLimited {
			require.True(t, hint.After >= 0 && hint.After <= boterr.MaxRetryAfter)
		}
		var told document.Object
		if json.Unmarshal([]byte(body), &told) == nil {
			require.Error(t, graph.Meanings{}.ErrorOf(told))
		}
	})
}
