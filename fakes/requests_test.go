package fakes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
)

// effects counts what a platform's services were asked for and did.
func effects(p *fakes.Platform) int {
	return len(p.Mails()) + len(p.Files()) + len(p.Sent()) + len(p.HTTP.Requests())
}

func TestFailNthRequest_EachService(t *testing.T) {
	t.Parallel()
	for service, use := range users {
		p, ada := openFor(t)
		bot := ada.Context()
		require.NoError(t, use(t, bot))
		before := effects(p)
		planned := p.FailNthRequest(service, 2, boterr.Conflict)
		require.NoError(t, use(t, bot), "the first request to %s goes well", service)
		require.False(t, planned.Met())
		once := effects(p) - before
		require.ErrorIs(t, use(t, bot), boterr.Conflict, "the second request to %s fails", service)
		require.True(t, planned.Met())
		if service != fakes.ServiceFiles { // The file is fetched before it is stored.
			require.Equal(t, before+once, effects(p), "%s does nothing", service)
		}
		require.NoError(t, use(t, bot))
	}
}

func TestTimeOutNthRequest_IsCarriedOut(t *testing.T) {
	t.Parallel()
	for _, service := range []fakes.Service{fakes.ServiceMail, fakes.ServiceFiles, fakes.ServiceHTTP, fakes.ServiceMessages} {
		p, ada := openFor(t)
		p.TimeOutNthRequest(service, 1)
		require.ErrorIs(t, users[service](t, ada.Context()), boterr.Unavailable)
		require.NotZero(t, effects(p), "%s has done it", service)
	}
}

func TestDelayNthRequest_VirtualTime(t *testing.T) {
	t.Parallel()
	for service, use := range users {
		p, ada := openFor(t)
		bot := ada.Context()
		before := p.Now()
		p.DelayNthRequest(service, 1, time.Minute)
		require.NoError(t, use(t, bot))
		require.Equal(t, before.Add(time.Minute), p.Now(), "%s", service)
	}
}

func TestCrashNthRequest_BeforeAndAfter(t *testing.T) {
	t.Parallel()
	for _, service := range []fakes.Service{fakes.ServiceMail, fakes.ServiceFiles, fakes.ServiceMessages} {
		p, ada := openFor(t)
		p.CrashNthRequest(service, 1)
		require.ErrorIs(t, users[service](t, ada.Context()), fakes.ErrCrashed)
		require.True(t, p.IsDown())
		require.Empty(t, len(p.Mails())+len(p.Files())+len(p.Sent()), "%s has done nothing", service)
		p.Restart()
		require.False(t, p.IsDown())
		p.CrashAfterNthRequest(service, 1)
		require.ErrorIs(t, users[service](t, ada.Context()), fakes.ErrCrashed)
		require.Equal(t, 1, len(p.Mails())+len(p.Files())+len(p.Sent()), "%s has done it", service)
	}
}

func TestFailNthRequest_OnForks(t *testing.T) {
	t.Parallel()
	p, ada := openFor(t)
	p.FailNthRequest(fakes.ServiceMail, 1, boterr.Unavailable)
	fork := p.Fork()
	require.Error(t, users[fakes.ServiceMail](t, ada.Context()))
	require.Error(t, users[fakes.ServiceMail](t, ada.In(fork).Context()))
}

func TestOnRequest_TellsOfWhatTheBotAsksFor(t *testing.T) {
	t.Parallel()
	told := map[fakes.Service][]string{}
	p, ada := openFor(t, fakes.OnRequest(func(_ context.Context, asked fakes.Request) {
		told[asked.Service] = append(told[asked.Service], asked.String())
	}))
	bot := ada.Context()
	clear(told)
	p.AddData("orders", document.O("_id", 1))
	require.Len(t, p.Data("orders"), 1)
	require.Empty(t, told[fakes.ServiceDataSources], "what the test looks at is no request")
	for _, use := range users {
		require.NoError(t, use(t, bot))
	}
	require.Equal(t, []string{"count data/app-1/orders"}, told[fakes.ServiceDataSources])
	require.Equal(t, []string{"mail to ada@example.com"}, told[fakes.ServiceMail])
	require.Equal(t, []string{"charge shop"}, told[fakes.ServicePayments])
	require.Contains(t, told[fakes.ServiceHTTP], "GET https://api.example.com/")
	require.Equal(t, []string{"send to " + ada.ExternalID()}, told[fakes.ServiceMessages])
	require.Len(t, told[fakes.ServiceFiles], 1)
	require.NotEmpty(t, told[fakes.ServiceStore])
}
