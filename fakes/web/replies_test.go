package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

// fetch fetches a URL with a method and returns the text, or the error's code.
func fetch(t *testing.T, doer outbound.Doer, method, target string) string {
	t.Helper()
	resp, err := outbound.Fetch(t.Context(), doer, outbound.Request{Method: method, URL: target})
	if err != nil {
		return string(boterr.CodeOf(err))
	}
	return resp.Text()
}

func TestMatch_BestPattern(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/*", web.Text(200, "short"))
	site.Add("GET", "https://a.example/items/*", web.Text(200, "long"))
	site.Add("GET", "https://a.example/items/1?x=1", web.Text(200, "exact"))
	site.Add("get", "https://a.example/items/", web.Text(200, "list"))
	site.Add("POST", "https://a.example/items/1", web.Text(200, "posted"))
	site.Add("", "HTTPS://B.example", web.Text(200, "root"))
	site.Add("GET", "https://b.example/?to=Zürich am See", web.Text(200, "encoded"))
	for _, c := range []struct{ method, url, want string }{
		{"GET", "https://b.example/?to=Zürich am See", "encoded"},
		{"GET", "https://b.example/?to=Z%C3%BCrich%20am%20See", "encoded"},
		{"GET", "https://a.example/items/1?x=1", "exact"},
		{"GET", "https://a.example/items/1?x=1#part", "exact"},
		{"GET", "https://A.EXAMPLE/items/1?x=1", "exact"},
		{"GET", "https://a.example/items/1?x=2", "long"},
		{"GET", "https://a.example/items/1", "long"},
		{"GET", "https://a.example/items/", "list"},
		{"GET", "https://a.example/", "short"},
		{"GET", "https://a.example", "short"},
		{"POST", "https://a.example/items/1", "posted"},
		{"POST", "https://a.example/items/2", "Unavailable"},
		{"GET", "http://a.example/", "Unavailable"},
		{"GET", "https://b.example/", "root"},
		{"GET", "https://b.example", "root"},
		{"GET", "https://b.example/x", "Unavailable"},
	} {
		require.Equal(t, c.want, fetch(t, &site, c.method, c.url), "%s %s", c.method, c.url)
	}
}

func TestAdd_InOrderLastStays(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/", web.Fail(errors.New("down")), web.Text(503, "busy"), web.Text(200, "ready"))
	for _, want := range []string{"Unavailable", "busy", "ready", "ready"} {
		require.Equal(t, want, fetch(t, &site, "GET", "https://a.example/"))
	}
}

func TestAdd_Replaces(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/", web.Text(200, "old"))
	site.Add("get", "https://a.example", web.Text(200, "new"))
	require.Equal(t, "new", fetch(t, &site, "GET", "https://a.example/"))
}

func TestFail_KeepsACode(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/", web.Fail(boterr.New(boterr.ResourceExhausted, "", "too many requests")))
	require.Equal(t, "ResourceExhausted", fetch(t, &site, "GET", "https://a.example/"))
}

func TestFail_KeepsABareCode(t *testing.T) {
	t.Parallel()
	for code, err := range map[string]error{
		"ResourceExhausted": boterr.ResourceExhausted, "NotFound": fmt.Errorf("gone: %w", boterr.NotFound), "Unavailable": io.EOF,
	} {
		var site web.Replies
		site.Add("GET", "https://a.example/", web.Fail(err))
		require.Equal(t, code, fetch(t, &site, "GET", "https://a.example/"))
	}
}

func TestFail_NilIsNoSuccess(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/", web.Fail(nil))
	require.Equal(t, "InvalidArgument", fetch(t, &site, "GET", "https://a.example/"))
}

func TestReplies_UnregisteredURL(t *testing.T) {
	t.Parallel()
	var site web.Replies
	_, err := outbound.Fetch(t.Context(), &site, outbound.Request{URL: "https://a.example/x?key=hunter2"})
	require.EqualError(t, err,
		`unavailable: no reply is registered for "GET https://a.example/x?[redacted]": add one; registered are: none`)
	require.ErrorIs(t, err, boterr.Unavailable)

	site.Add("POST", "https://a.example/y?key=hunter2", web.Reply{})
	site.Add("GET", "https://b.example/*", web.Reply{})
	_, err = outbound.Fetch(t.Context(), &site, outbound.Request{URL: "https://a.example/x"})
	require.EqualError(t, err, `unavailable: no reply is registered for "GET https://a.example/x": add one; `+
		`registered are: "POST https://a.example/y?[redacted]", "GET https://b.example/*"`)

	for _, arrived := range site.Requests() {
		require.Empty(t, arrived.Pattern)
	}
	require.Len(t, site.Requests(), 2)
}

func TestReplies_NoLaxerThanClient(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "http*", web.Text(200, "reached"))
	site.Add("GET", "https://a.example/inward", web.Redirect(302, "http://10.0.0.1/"))
	site.Add("GET", "https://a.example/down", web.Redirect(302, "http://b.example/"))
	site.Add("GET", "https://a.example/loop", web.Redirect(302, "/loop"))
	site.Add("GET", "https://a.example/long", web.Text(200, string(make([]byte, outbound.DefaultMaxResponseBytes+1))))
	for target, code := range map[string]string{
		"http://127.0.0.1/":          "InvalidArgument",
		"http://localhost/":          "InvalidArgument",
		"http://2130706433/":         "InvalidArgument",
		"http://u:p@a.example/":      "InvalidArgument",
		"ftp://a.example/":           "InvalidArgument",
		"https://a.example/inward":   "InvalidArgument",
		"https://a.example/down":     "InvalidArgument",
		"https://a.example/loop":     "ResourceExhausted",
		"https://a.example/long":     "ResourceExhausted",
		"http://intranet.a.example/": "reached",
	} {
		require.Equal(t, code, fetch(t, &site, "GET", target), target)
	}
}

func TestReplies_TransportOfAClient(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "http://127.0.0.1/*", web.Text(200, "reached"))
	client, err := outbound.New(outbound.Config{Transport: &site, Allow: []string{"127.0.0.1"}})
	require.NoError(t, err)
	require.Equal(t, "reached", fetch(t, client, "GET", "http://127.0.0.1/x"))
}

func TestRedirect_FollowedAndRecorded(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("POST", "https://a.example/form", web.Redirect(http.StatusSeeOther, "https://b.example/done"))
	site.Add("GET", "https://b.example/done", web.Text(200, "done"))
	resp, err := outbound.Fetch(t.Context(), &site, outbound.Request{
		Method: "POST", URL: "https://a.example/form", Body: []byte("x=1"), Headers: map[string]string{"Cookie": "c"},
	})
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text())
	requests := site.Requests()
	require.Len(t, requests, 2)
	require.Equal(t, "x=1", requests[0].Body)
	require.Equal(t, http.Header{"Cookie": {"c"}}, requests[0].Header)
	require.Equal(t, web.Request{
		Method: "GET", URL: "https://b.example/done", Header: http.Header{}, Pattern: "https://b.example/done",
	}, requests[1])
}

func TestHead_GetsNoBody(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("HEAD", "https://a.example/", web.Text(200, "text"))
	require.Empty(t, fetch(t, &site, "HEAD", "https://a.example/"))
}

func TestContext_Ended(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/", web.Reply{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := outbound.Fetch(ctx, &site, outbound.Request{URL: "https://a.example/"})
	require.ErrorIs(t, err, boterr.Canceled)
	require.Empty(t, site.Requests())
}

func TestReplies_ShareNothing(t *testing.T) {
	t.Parallel()
	var site web.Replies
	reply := web.JSON(200, `{}`)
	site.Add("GET", "https://a.example/", reply)
	reply.Header.Set("Content-Type", "changed")
	resp, err := outbound.Fetch(t.Context(), &site, outbound.Request{URL: "https://a.example/", Headers: map[string]string{"X-A": "1"}})
	require.NoError(t, err)
	resp.Header.Set("Content-Type", "changed")
	site.Requests()[0].Header.Set("X-A", "changed")

	resp, err = outbound.Fetch(t.Context(), &site, outbound.Request{URL: "https://a.example/"})
	require.NoError(t, err)
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	require.Equal(t, "1", site.Requests()[0].Header.Get("X-A"))
}

func TestClone_GoesOnByItself(t *testing.T) {
	t.Parallel()
	var site web.Replies
	site.Add("GET", "https://a.example/", web.Text(200, "1"), web.Text(200, "2"), web.Text(200, "3"))
	require.Equal(t, "1", fetch(t, &site, "GET", "https://a.example/"))
	fork := site.Clone()
	require.Equal(t, "2", fetch(t, fork, "GET", "https://a.example/"))
	fork.Add("GET", "https://b.example/", web.Text(200, "b"))
	require.Equal(t, "2", fetch(t, &site, "GET", "https://a.example/"))
	require.Equal(t, "3", fetch(t, &site, "GET", "https://a.example/"))
	require.Equal(t, "3", fetch(t, fork, "GET", "https://a.example/"))
	require.Equal(t, "Unavailable", fetch(t, &site, "GET", "https://b.example/"))
	require.Len(t, fork.Requests(), 3)
}

func TestReplies_ConcurrentUse(t *testing.T) {
	t.Parallel()
	var site web.Replies
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			target := fmt.Sprintf("https://a.example/%d", i)
			site.Add("GET", target, web.Text(200, target))
			if resp, err := outbound.Fetch(context.Background(), &site, outbound.Request{URL: target}); err != nil || resp.Text() != target {
				t.Errorf("%s: %v", target, err)
			}
		})
	}
	all.Wait()
	require.Len(t, site.Requests(), 16)
}
