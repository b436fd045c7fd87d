package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// application is the host's application on a platform, which reports for all its accounts.
type application struct {
	secret, verifyToken channel.Secret
	id                  string
	// api is the address of the platform's API, or "" for its own.
	api string
}

// applicationIn reads the variables of an application, such as HOST_ALPHA_APP_SECRET.
func applicationIn(lookup func(string) (string, bool), prefix string) application {
	value := func(name string) string {
		text, _ := lookup(prefix + name)
		return text
	}
	return application{
		secret: channel.NewSecret(value("APP_SECRET")), verifyToken: channel.NewSecret(value("VERIFY_TOKEN")),
		id: value("APP_ID"), api: value("API"),
	}
}

// check returns an error if the platform's reports could not be verified.
func (a application) check(prefix string) error {
	if a.secret.Reveal() == "" || a.verifyToken.Reveal() == "" {
		return fmt.Errorf("set %sAPP_SECRET to the application's secret, and %sVERIFY_TOKEN to the verify token of its webhook",
			prefix, prefix)
	}
	return nil
}

// applicationPrefixes are the prefixes of the application's variables, by platform. On echo and hotel each channel has its
// own application, in the file of channels.
var applicationPrefixes = map[channel.Type]string{
	channel.Alpha: "HOST_ALPHA_", channel.Bravo: "HOST_BRAVO_", channel.Echo: "HOST_ECHO_", channel.Hotel: "HOST_HOTEL_",
}

// applicationsIn reads the applications of all platforms.
func applicationsIn(lookup func(string) (string, bool)) map[channel.Type]application {
	all := map[channel.Type]application{}
	for platform, prefix := range applicationPrefixes {
		all[platform] = applicationIn(lookup, prefix)
	}
	return all
}

// checkApplications returns an error for an application that is missing.
func (c config) checkApplications() error {
	var problems []error
	for _, platform := range []channel.Type{channel.Alpha, channel.Bravo} {
		if has(c.channels, platform) {
			problems = append(problems, c.applications[platform].check(applicationPrefixes[platform]))
		}
	}
	return errors.Join(problems...)
}

// platforms are the connectors of a host, and the handlers of reports by their patterns.
type platforms struct {
	connectors map[channel.Type]send.Connector
	receivers  map[string]http.Handler
}

// addPlatforms adds the platforms that have channels.
func (s *service) addPlatforms(all platforms, channels []channelSettings, drops *send.Drops) error {
	var problems []error
	if has(channels, channel.Alpha) {
		of := s.config.applications[channel.Alpha]
		pages, err := alpha.New(alpha.Config{
			APIURL: of.api, AppSecret: of.secret, VerifyToken: of.verifyToken, AppID: of.id,
			FindChannel: finder(channels, channel.Alpha), Drops: drops,
		})
		if err == nil {
			all.connectors[channel.Alpha], all.receivers["/alpha"] = alpha.Limited(pages), pages.Handler(s.accept)
		}
		problems = append(problems, err)
	}
	if has(channels, channel.Bravo) {
		of := s.config.applications[channel.Bravo]
		numbers, err := bravo.New(bravo.Config{
			APIURL: of.api, AppSecret: of.secret, VerifyToken: of.verifyToken, Now: s.config.now,
			FindChannel: finder(channels, channel.Bravo), Drops: drops,
		})
		if err == nil {
			all.connectors[channel.Bravo], all.receivers["/bravo"] = bravo.Limited(numbers), numbers.Handler(s.accept)
		}
		problems = append(problems, err)
	}
	if has(channels, channel.Echo) {
		accounts, err := echo.New(echo.Config{
			APIURL: s.config.applications[channel.Echo].api, Store: s.store, Now: s.config.now,
			FindChannel: finder(channels, channel.Echo), Drops: drops,
		})
		if err == nil {
			all.connectors[channel.Echo], all.receivers["/echo/{account}"] = echo.Limited(accounts), accounts.Handler(s.accept)
		}
		problems = append(problems, err)
	}
	if has(channels, channel.Foxtrot) {
		allow, errAllow := outbound.ParseAllowList(s.config.allow...)
		desks, err := foxtrot.New(foxtrot.Config{
			HTTPClient: &http.Client{Transport: outbound.GuardedTransport(allow)},
			Now:        s.config.now, FindChannel: finder(channels, channel.Foxtrot), Drops: drops,
		})
		if err = errors.Join(errAllow, err); err == nil {
			all.connectors[channel.Foxtrot], all.receivers["/foxtrot/{account}"] = foxtrot.Limited(desks), desks.Handler(s.accept)
		}
		problems = append(problems, err)
	}
	if has(channels, channel.Hotel) {
		bots, err := hotel.New(hotelConfig(s.config, channels, drops))
		if err == nil {
			all.connectors[channel.Hotel], all.receivers["/hotel"] = hotel.Limited(bots), bots.Handler(s.accept)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// hotelConfig returns the config of the connector to bots in the team chat.
func hotelConfig(c config, channels []channelSettings, drops *send.Drops) hotel.Config {
	find := finder(channels, channel.Hotel)
	configured := hotel.Config{Now: c.now, Drops: drops, FindChannel: func(ctx context.Context, of hotel.Bot) (*channel.Channel, error) {
		return find(ctx, of.AppID)
	}}
	if api := c.applications[channel.Hotel].api; api != "" { // In tests, one server serves all parts of the platform.
		configured.ServiceURL, configured.LoginURL, configured.GraphURL = api+"/teams/", api+"/login", api+"/graph/v1.0"
		configured.KeysURL = api + "/keys/openidconfiguration"
	}
	return configured
}
