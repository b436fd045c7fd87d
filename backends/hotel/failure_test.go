package hotel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/send"
)

// shopWith returns the shop with a changed field in its info.
func shopWith(field string, value any) *channel.Channel {
	in := shop()
	info := in.Info.(channel.OtherInfo).Reveal().With(field, value)
	in.Info = channel.OtherInfo{Hidden: channel.Hide(info)}
	return in
}

func TestNew_InvalidConfig(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, hotel.New, map[string]hotel.Config{
		"Timeout":      {Timeout: -1},
		"BodyTime":     {BodyTime: -1},
		"MaxFileBytes": {MaxFileBytes: -1},
		"ServiceURL":   {ServiceURL: "ftp://x"},
		"LoginURL":     {LoginURL: "x"},
		"GraphURL":     {GraphURL: "https://u:p@x"},
		"KeysURL":      {KeysURL: "https://"},
	})
	for _, host := range []string{"", ".", "com", ".com", "https://x.test", "x.test:1", "x.test/", "*.x.test"} {
		_, err := hotel.New(hotel.Config{ServiceHosts: []string{"x.test", host}})
		refused, _ := boterr.AsError(err)
		require.NotNil(t, refused, host)
		require.Equal(t, "ServiceHosts[1]", refused.Field)
	}
	_, err := hotel.New(hotel.Config{})
	require.NoError(t, err)
}

func TestCredentials_Missing(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	for _, field := range []string{"appId", "appPassword", "tenantId"} {
		for _, value := range []any{"", nil, 7} {
			message := to(adaID, send.Text("Hi"))
			message.Channel = shopWith(field, value)
			_, err := connector.Send(t.Context(), message)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, field)
		}
	}
	for _, tenant := range []string{"../common", "bistro.example", "common"} {
		message := to(adaID, send.Text("Hi"))
		message.Channel = shopWith("tenantId", tenant)
		_, err := connector.Send(t.Context(), message)
		require.ErrorContains(t, err, "tenantId")
	}
}

func TestGroupName_IDThatLeavesTheAddress(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	_, err := through(t, p, saying(p, http.StatusOK, `{"id":"1"}`)).GroupName(t.Context(), shop(), "..")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestProblem_Forms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, says string
		code       boterr.Code
		isGone     bool
	}{
		{400, `{"error":{"code":"BadSyntax","message":"odd ` + password + `"}}`, "(BadSyntax, status 400): odd [redacted]", boterr.InvalidArgument, false},
		{400, `{"error":{"code":"ServiceError","message":"Invalid userId"}}`, "Invalid userId", boterr.InvalidArgument, false},
		{400, `{"error":{"code":"<b>"}}`, "(status 400)", boterr.InvalidArgument, false},
		{401, ``, "token", boterr.FailedPrecondition, false},
		{401, `{"error":{"code":"BotNotRegistered"}}`, "register", boterr.FailedPrecondition, false},
		{403, `{"error":{"code":"ConversationBlockedByUser"}}`, "blocked the bot", boterr.FailedPrecondition, true},
		{403, `{"error":{"code":"BotNotInConversationRoster"}}`, "install", boterr.FailedPrecondition, false},
		{403, `{"errorCode":209,"message":"{\r\n \"subCode\": \"MessageWritesBlocked\",\r\n \"details\": \"Thread is blocked\"\r\n}"}`, "(MessageWritesBlocked, status 403)", boterr.FailedPrecondition, false},
		{403, `{"errorCode":210,"message":"no"}`, "(error210, status 403)", boterr.FailedPrecondition, false},
		{403, ``, "does not allow", boterr.FailedPrecondition, false},
		{404, ``, "nothing with that id", boterr.NotFound, true},
		{404, `"NotFound"`, "nothing with that id", boterr.NotFound, true},
		{404, `{"error":{"code":"ConversationNotFound"}}`, "no such conversation", boterr.NotFound, true},
		{409, ``, "try again", boterr.Conflict, false},
		{412, `{"error":{"code":"PreconditionFailed"}}`, "at the same time", boterr.ResourceExhausted, false},
		{413, `{"error":{"code":"MessageSizeTooBig"}}`, "too long", boterr.InvalidArgument, false},
		{413, ``, "too long", boterr.InvalidArgument, false},
		{418, ``, "status 418", boterr.InvalidArgument, false},
		{429, `{"error":{"code":"Throttled"}}`, "rate", boterr.ResourceExhausted, false},
		{500, `{"error":{"code":"ConversationNotFound"}}`, "failed", "", false},
		{502, ``, "failed with status 502", "", false},
		{504, `<html>`, "failed with status 504", "", false},
		{304, ``, "failed", "", false},
		{200, `<html>`, "cannot be read", "", false},
	} {
		p := newPlatform()
		_, err := over(t, p, saying(p, c.status, c.body)).Send(t.Context(), to(teamID, send.Text("Hi")))
		require.ErrorContains(t, err, c.says, "%d %s", c.status, c.body)
		require.Equal(t, c.code != "", boterr.HasCode(err), "%d %s", c.status, c.body)
		if c.code != "" {
			require.Equal(t, c.code, boterr.CodeOf(err), "%d %s", c.status, c.body)
		}
		require.Equal(t, c.isGone, send.IsGone(err), "%d %s", c.status, c.body)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), password)
	}
}

func TestProblem_FieldOfALongMessage(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	_, err := over(t, p, saying(p, 413, ``)).Send(t.Context(), to(teamID, send.Buttons("Hi", send.Postback("A", "a"))))
	refused, _ := boterr.AsError(err)
	require.Equal(t, "buttons", refused.Field)
}

func TestRateLimit_TellsTheTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status        int
		header        []string
		least, longer time.Duration
	}{
		{429, []string{"Retry-After", "7"}, 7 * time.Second, 7 * time.Second},
		{429, nil, time.Second, 2 * time.Second},
		{429, []string{"Retry-After", "0"}, time.Second, 2 * time.Second},
		{412, nil, time.Second, 2 * time.Second},
	} {
		p := newPlatform()
		_, err := over(t, p, saying(p, c.status, ``, c.header...)).Send(t.Context(), to(teamID, send.Text("Hi")))
		hint, ok := errors.AsType[*send.RetryAfterError](err)
		require.True(t, ok)
		require.True(t, hint.OfRecipient, "other conversations need not wait")
		require.GreaterOrEqual(t, hint.After, c.least)
		require.LessOrEqual(t, hint.After, c.longer)
	}
}

// failingOnce refuses the first message with this status, and counts the attempts.
func failingOnce(p *hotelfake.Platform, status int) (http.Handler, *atomic.Int64) {
	attempts := &atomic.Int64{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/activities") && attempts.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(status)
			return
		}
		p.ServeHTTP(w, r)
	}), attempts
}

func TestLimited_SendsAgainOnlyIfNothingWasDone(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int64{412: 2, 429: 2, 502: 1, 504: 1, 500: 1} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlatform()
			handler, attempts := failingOnce(p, status)
			_, err := hotel.Limited(through(t, p, handler)).Send(t.Context(), to(adaID, send.Text("Hi")))
			require.Equal(t, want == 2, err == nil, "%v", err)
			require.Equal(t, want, attempts.Load())
		})
	}
}

func TestLimited_KeepsTheDocumentedRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform()
		limited, began := hotel.Limited(through(t, p, p)), time.Now() //nolint:forbidigo // Virtual time.
		var times []time.Duration
		for range 1810 {
			_, err := limited.Send(t.Context(), to(teamID, send.Text("Hi")))
			require.NoError(t, err)
			times = append(times, time.Since(began)) //nolint:forbidigo // Virtual time.
		}
		for i := range times {
			for within, most := range map[time.Duration]int{time.Second: 7, 2 * time.Second: 8, 30 * time.Second: 60, time.Hour: 1800} {
				if i+most < len(times) {
					require.GreaterOrEqual(t, times[i+most]-times[i], within, "more than %d messages within %s", most, within)
				}
			}
		}
	})
}

func TestTokens_OneLoginServesManyCalls(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	var all sync.WaitGroup
	errs := make(chan error, 20)
	for range 20 {
		all.Go(func() {
			_, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, p.Logins(), 1)
}

func TestTokens_AreRenewedBeforeTheyExpire(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	now := p.Now()
	p.Now = func() time.Time { return now }
	connector := over(t, p, p)
	for _, c := range []struct {
		after  time.Duration
		logins int
	}{
		{0, 1}, {54 * time.Minute, 1}, {56 * time.Minute, 2}, {80 * time.Minute, 2},
	} {
		now = time.Unix(1_700_000_000, 0).Add(c.after)
		_, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
		require.NoError(t, err)
		require.Len(t, p.Logins(), c.logins, c.after)
	}
}

func TestTokens_OldOneServesWhileTheLoginFails(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	now := p.Now()
	p.Now = func() time.Time { return now }
	isDown := &atomic.Bool{}
	attempts := &atomic.Int64{}
	connector := over(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isDown.Load() && strings.HasPrefix(r.URL.Path, "/login/") {
			attempts.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		p.ServeHTTP(w, r)
	}))
	_, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
	require.NoError(t, err)
	isDown.Store(true)
	now = now.Add(58 * time.Minute)
	for range 3 {
		_, err = connector.Send(t.Context(), to(teamID, send.Text("Hi")))
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, attempts.Load(), "a failure is not repeated at once")
	now = now.Add(3 * time.Minute)
	_, err = connector.Send(t.Context(), to(teamID, send.Text("Hi")))
	require.ErrorContains(t, err, "failed with status 503")
}

func TestTokens_RevokedOneIsReplacedOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	for range 2 {
		p.Revoke()
		_, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
		require.NoError(t, err)
	}
	require.Len(t, p.Logins(), 2)
	refusing := newPlatform()
	_, err := over(t, refusing, saying(refusing, 401, ``)).Send(t.Context(), to(teamID, send.Text("Hi")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Len(t, refusing.Logins(), 2, "the new one was refused, too")
}

// Two calls have the same refused token. The second one must not discard the first one's new token.
func TestTokens_RevokedOneIsReplacedOnceForAllCalls(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	asked, both, renewed := &atomic.Int64{}, make(chan struct{}), make(chan struct{})
	connector := through(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/activities") {
			switch asked.Add(1) {
			case 1:
				<-both
				w.WriteHeader(http.StatusUnauthorized)
				return
			case 2:
				close(both)
				<-renewed
				w.WriteHeader(http.StatusUnauthorized)
				return
			case 3: // The first call tries again.
				close(renewed)
			}
		}
		p.ServeHTTP(w, r)
	}))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := connector.Send(t.Context(), to(teamID, send.Text("Hi"))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Len(t, p.Logins(), 2)
}

func TestTokens_NewSecretIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	_, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
	require.NoError(t, err)
	message := to(teamID, send.Text("Hi"))
	message.Channel = shopWith("appPassword", "a wrong secret")
	_, err = connector.Send(t.Context(), message)
	require.ErrorContains(t, err, "AADSTS7000215")
	require.NotContains(t, err.Error(), "a wrong secret")
}

func TestLogin_Failures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status       int
		body, says   string
		code         boterr.Code
		hasRetryTime bool
	}{
		{400, `{"error":"unauthorized_client","error_description":"AADSTS700016: ` + password + `"}`, "(AADSTS700016)", boterr.FailedPrecondition, false},
		{401, `{"error":"invalid_client"}`, "(status 401)", boterr.FailedPrecondition, false},
		{403, ``, "(status 403)", boterr.FailedPrecondition, false},
		{429, ``, "rate of logins", boterr.ResourceExhausted, true},
		{500, ``, "failed with status 500", "", false},
		{200, `{}`, "cannot be read", "", false},
		{200, `<html>`, "cannot be read", "", false},
		{200, `{"access_token":"x","expires_in":"3599"}`, "token", boterr.FailedPrecondition, false}, // The platform does not know this token.
		{200, `{"access_token":"x","expires_in":-1}`, "token", boterr.FailedPrecondition, false},
	} {
		p := newPlatform()
		_, err := over(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/login/") {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return
			}
			p.ServeHTTP(w, r)
		})).Send(t.Context(), to(teamID, send.Text("Hi")))
		require.ErrorContains(t, err, c.says, c.body)
		require.Equal(t, c.code != "", boterr.HasCode(err), c.body)
		if c.code != "" {
			require.Equal(t, c.code, boterr.CodeOf(err), c.body)
		}
		_, has := errors.AsType[*send.RetryAfterError](err)
		require.Equal(t, c.hasRetryTime, has)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), password)
	}
}

func TestConversation_IsForgottenIfThePlatformForgotIt(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	handler, begun := &atomic.Pointer[hotelfake.Platform]{}, &atomic.Int64{}
	handler.Store(p)
	connector := over(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/conversations") {
			begun.Add(1)
		}
		handler.Load().ServeHTTP(w, r)
	}))
	for _, user := range []string{bobID, adaID, bobID, adaID} {
		_, err := connector.Send(t.Context(), to(user, send.Text("Hi")))
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, begun.Load(), "both are kept")
	handler.Store(newPlatform()) // This platform does not know the conversation or the token.
	_, err := connector.Send(t.Context(), to(adaID, send.Text("Hi")))
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Send(t.Context(), to(adaID, send.Text("Hi")))
	require.NoError(t, err)
	require.EqualValues(t, 3, begun.Load())
}

func TestFailures(t *testing.T) {
	t.Parallel()
	connectortest.Failures{
		Over: func(t *testing.T, transport connectortest.RoundTrip) send.Connector {
			t.Helper()
			p := newPlatform()
			config := configFor("http://hotel.test", p)
			config.Timeout = connectortest.Timeout
			config.HTTPClient = &http.Client{Transport: connectortest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path[:6] == "/login" {
					return connectortest.Directly{Handler: p}.RoundTrip(r)
				}
				return transport(r)
			})}
			return newConnector(t, config)
		},
		At: func(t *testing.T, url string) (send.Connector, send.Message) {
			t.Helper()
			p := newPlatform()
			config := configFor(url, p)
			config.LoginURL = loginAt(t, p)
			return newConnector(t, config), to(teamID, send.Text("Hi"))
		},
		Message: to(teamID, send.Text("Hi")), Endless: `{"id":"`, Secret: "eyJ0b2tlbi1vZi1000001",
	}.Run(t)
}

// loginAt serves a platform's login, and returns its address.
func loginAt(t *testing.T, p *hotelfake.Platform) string {
	t.Helper()
	return connectortest.Serve(t, p) + "/login"
}

func TestOpen_SendsTheTokenToThePlatformAlone(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddFile("picture-1", "the picture")
	url := connectortest.Serve(t, p)
	var open *http.Request
	config := configFor(url, p)
	config.HTTPClient = &http.Client{Transport: connectortest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Hostname(), ".sharepoint.com") {
			open = r
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("the file"))}, nil
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	connector := newConnector(t, config)
	for address, want := range map[string]string{
		url + "/teams/v3/attachments/picture-1":   "the picture",
		"https://bistro.sharepoint.com/f?token=x": "the file",
	} {
		file, err := connector.Open(t.Context(), shop(), address)
		connectortest.RequireFile(t, file, err, want)
	}
	require.Empty(t, open.Header.Get("Authorization"), "a shared file is fetched without the token")
	for _, address := range []string{
		"", "%", "https://evil.test/a", "http://bistro.sharepoint.com/f", "https://evilsharepoint.com/", "https://u@bistro.sharepoint.com/", "file:///etc/passwd",
	} {
		_, err := connector.Open(t.Context(), shop(), address)
		require.ErrorIs(t, err, boterr.InvalidArgument, address)
	}
	_, err := connector.Open(t.Context(), shop(), url+"/teams/v3/attachments/gone")
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestOpen_EndlessFile(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	server := boundedtest.Serve(t, true, boundedtest.Answers("200 OK"), "x")
	url := "http://" + server.Address
	config := configFor(url, p)
	config.LoginURL, config.MaxFileBytes = loginAt(t, p), 1000
	file, err := newConnector(t, config).Open(t.Context(), shop(), url+"/teams/v3/attachments/1")
	connectortest.RequireTooLong(t, file, err, 1000)
	server.RequireHungUp(t, 1)
}

// recorded is a request to the real platform and its answer.
type recorded struct {
	From     string          `json:"from"`
	Status   int             `json:"status"`
	Response json.RawMessage `json:"response"`
}

func TestRecorded_EachAnswerHasACodeOrNone(t *testing.T) {
	t.Parallel()
	var all []recorded
	connectortest.Facts(t, "hotel", "botconnector-recorded.json", &all)
	require.Len(t, all, 109)
	codes := map[string]int{}
	for _, one := range all {
		p := newPlatform()
		config := configFor("http://hotel.test", p)
		body := []byte(one.Response)
		if plain := ""; json.Unmarshal(body, &plain) == nil {
			body = []byte(plain) // The answer was not JSON.
		}
		config.HTTPClient = &http.Client{Transport: connectortest.Directly{Handler: saying(p, one.Status, string(body))}}
		connector := newConnector(t, config)
		_, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
		_, updated := connector.UpdateMessage(t.Context(), shop(), send.MessageUpdate{ConversationID: teamID, MessageID: "1", Text: "x"})
		if one.Status < 300 {
			require.NoError(t, updated, one.From)
			require.False(t, err != nil && boterr.HasCode(err), "%s: %v", one.From, err)
			continue
		}
		require.True(t, boterr.HasCode(err), "%s: %v", one.From, err)
		require.Equal(t, boterr.CodeOf(err), boterr.CodeOf(updated), one.From)
		codes[fmt.Sprint(one.Status, " ", string(boterr.CodeOf(err)))]++
	}
	require.Equal(t, map[string]int{"400 InvalidArgument": 12, "403 FailedPrecondition": 1, "404 NotFound": 8}, codes)
}

func FuzzProblem(f *testing.F) {
	f.Add(400, `{"error":{"code":"BadSyntax","message":"x"}}`, "7")
	f.Add(403, `{"errorCode":209,"message":"{\"subCode\":\"MessageWritesBlocked\"}"}`, "")
	f.Add(404, ``, "Tue, 14 Nov 2023 22:13:20 GMT")
	f.Add(200, `{"id":"1"}`, "")
	f.Fuzz(func(t *testing.T, status int, body, wait string) {
		if status < 200 || status > 599 {
			return
		}
		p := newPlatform()
		config := configFor("http://hotel.test", p)
		config.HTTPClient = &http.Client{Transport: connectortest.Directly{Handler: saying(p, status, body, "Retry-After", wait)}}
		connector, err := hotel.New(config)
		require.NoError(t, err)
		delivery, err := connector.Send(t.Context(), to(teamID, send.Text("Hi")))
		if err == nil {
			require.NotEmpty(t, delivery.MessageID)
			return
		}
		require.False(t, status >= 500 && boterr.HasCode(err), "%v", err)
		if hint, ok := errors.AsType[*send.RetryAfterError](err); ok {
			require.True(t, hint.After > 0 && hint.After <= boterr.MaxRetryAfter)
		}
		require.NotContains(t, err.Error(), password)
		require.NotContains(t, err.Error(), document.Get(shop().Info.(channel.OtherInfo).Reveal(), "tenantId", ""))
	})
}
