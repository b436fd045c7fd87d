package browsertest_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/member"
)

// adminPage opens the page of a host that has given up a message of Ada's.
func adminPage(t *testing.T) (*tab, *fakes.Platform) {
	t.Helper()
	started(t)
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.HandleFunc(func(context.Context, *botctx.Context) error {
		return boterr.New(boterr.InvalidArgument, "", "the kitchen has no such dish")
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	require.Error(t, ada.TrySays("a table for four"))
	handler, err := admin.Handler(admin.Config{Runtime: p.Runtime(), Apps: []string{fakes.DefaultApp}, MayWrite: true})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return window(t, server.URL+"/"), p
}

func TestAdmin_DiscardsADeadLetter(t *testing.T) {
	t.Parallel()
	page, p := adminPage(t)
	page.does(chromedp.Navigate(page.url))
	page.sees(".records", "Ada")
	page.does(chromedp.Click(`//a[contains(., "Dead letters")]`))
	page.sees(".records", "the kitchen has no such dish")
	page.does(chromedp.Click(`summary`))
	page.sees(".records", "a table for four")
	page.presses("Discard")
	page.sees("[role=status]", "The message was discarded.")
	require.Empty(t, p.DeadLetters())
}

func TestAdmin_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := axe(t)
	page, _ := adminPage(t)
	for scheme, width := range map[string]int64{"light": 360, "dark": 1280} {
		page.inScheme(scheme)
		page.sized(width)
		for kind, shows := range map[string]string{"members": "Ada", "agendas": "No agenda", "assignments": "Nobody", "dead-letters": "kitchen"} {
			page.does(chromedp.Navigate(page.url + "?of=" + kind))
			page.sees("main", shows)
			page.evaluates(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`)
			page.pictured(fmt.Sprintf("admin-%s-%s-%d", kind, scheme, width))
			requireNoViolations(t, kind, page.violations(axe))
			page.fits(kind)
		}
	}
}
