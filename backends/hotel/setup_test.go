package hotel_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/send"
)

const (
	password = "secret-of-the-shop"
	adaID    = "29:ada-1"
	bobID    = "29:bob-2"
	teamID   = "19:team-general@thread.tacv2"
	pathKeys = "/keys/openidconfiguration"
)

func shopApp() hotelfake.App {
	return hotelfake.App{ID: "app-of-the-shop", Password: password, Tenant: "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817", Channel: "shop"}
}

func deskApp() hotelfake.App {
	return hotelfake.App{ID: "app-of-the-desk", Password: "secret-of-the-desk", Tenant: "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817", Channel: "desk"}
}

func channelOf(app hotelfake.App) *channel.Channel {
	return &channel.Channel{ID: app.Channel, App: "app-1", Type: channel.Hotel, On: true, Info: channel.OtherInfo{Hidden: channel.Hide(document.O(
		"appId", app.ID, "appPassword", app.Password, "tenantId", app.Tenant,
	))}}
}

func shop() *channel.Channel { return channelOf(shopApp()) }

func newPlatform() *hotelfake.Platform {
	p := hotelfake.New(shopApp(), deskApp())
	p.AddUser(adaID, "Ada Lovelace")
	p.AddUser(bobID, "Bob Martin")
	p.AddGroup(teamID, "The team", adaID, bobID)
	return p
}

// configFor returns the config for a platform that is served at this address.
func configFor(url string, p *hotelfake.Platform) hotel.Config {
	return hotel.Config{
		ServiceURL: url + "/teams/", LoginURL: url + "/login", GraphURL: url + "/graph/v1.0", KeysURL: url + pathKeys,
		Now: func() time.Time { return p.Now() },
		FindChannel: func(_ context.Context, of hotel.Bot) (*channel.Channel, error) {
			for _, app := range []hotelfake.App{shopApp(), deskApp()} {
				if app.ID == of.AppID {
					return channelOf(app), nil
				}
			}
			return nil, boterr.New(boterr.NotFound, "", "there is no bot %s", of.AppID)
		},
	}
}

func newConnector(t *testing.T, config hotel.Config) *hotel.Connector {
	t.Helper()
	return connectortest.New(t, hotel.New, config)
}

// over returns a connector whose requests go to a handler, over the network.
func over(t *testing.T, p *hotelfake.Platform, handler http.Handler) *hotel.Connector {
	t.Helper()
	return newConnector(t, configFor(connectortest.Serve(t, handler), p))
}

// through returns a connector whose requests go to a handler, without a network.
func through(t *testing.T, p *hotelfake.Platform, handler http.Handler) *hotel.Connector {
	t.Helper()
	config := configFor("http://hotel.test", p)
	config.HTTPClient = &http.Client{Transport: connectortest.Directly{Handler: handler}}
	return newConnector(t, config)
}

// saying answers logins like the platform, and everything else with this status and body.
func saying(p *hotelfake.Platform, status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path[:6] == "/login" {
			p.ServeHTTP(w, r)
			return
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

func to(id string, response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: shop(), To: id, Response: response}
}

// box is a handler over a platform, and its accepted events.
type box struct {
	*connectortest.Box

	platform *hotelfake.Platform
}

// newBox returns a box whose connector's requests go to handler. change may change the config.
func newBox(t *testing.T, p *hotelfake.Platform, handler http.Handler, change func(*hotel.Config)) *box {
	t.Helper()
	b := &box{connectortest.NewBox(), p}
	config := configFor("http://hotel.test", p)
	config.HTTPClient = &http.Client{Transport: connectortest.Directly{Handler: handler}}
	config.Drops, config.OnError = b.Drops, b.OnError
	if change != nil {
		change(&config)
	}
	b.Handler = newConnector(t, config).Handler(b.Accept)
	return b
}

func newUsualBox(t *testing.T) *box {
	t.Helper()
	p := newPlatform()
	return newBox(t, p, p, nil)
}

// reports gives the handler an activity of Ada for the shop.
func (b *box) reports(ctx context.Context, fields document.Object) *httptest.ResponseRecorder {
	return b.Ask(b.platform.Report(ctx, "/hotel", shopApp().ID, b.platform.Activity(shopApp(), adaID, "", fields)))
}
