package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// channelSettings is a channel in the file of channels. Channels are not in the store: the file is under the
// host's version control, and the secrets are only in the environment.
type channelSettings struct {
	App string `json:"app"`
	ID  string `json:"id"`
	// Type is custom by default, webchat, desk, alpha, bravo, echo, foxtrot or hotel.
	Type channel.Type `json:"type"`

	// URL is the address for the bot's messages in a custom channel.
	URL string `json:"url"`
	// SecretVariable is the environment variable that holds the secret of both directions of a custom channel, or the
	// secret that signs the visitors' tokens of a webchat.
	SecretVariable string `json:"secretVariable"`
	// Origins are the origins of the pages that may show a webchat, such as https://shop.example.
	Origins []string `json:"origins"`

	// Account is the platform's id of the channel: of the page on alpha, of the phone number on bravo, of the bot's
	// application on hotel. On echo and foxtrot it is the last part of the address for the platform's reports.
	Account string `json:"account"`
	// TokenVariable is the environment variable that holds the token for the account, on hotel the application's
	// secret.
	TokenVariable string `json:"tokenVariable"`
	// InfoVariable is the environment variable that holds the channel's info as JSON, on echo and foxtrot. Their
	// accounts have several credentials each.
	InfoVariable string `json:"infoVariable"`
	// Tenant is the id of the organisation that owns the application on hotel.
	Tenant string `json:"tenant"`

	secrets []channel.Secret
	token   channel.Secret
	info    channel.Info
}

// readChannels returns the channels of a file, if one is named, followed by others. Its error lists all
// problems.
func readChannels(
	file string, lookup func(string) (string, bool), others ...channelSettings,
) ([]channelSettings, error) {
	var all []channelSettings
	if file != "" {
		text, err := os.ReadFile(file) //nolint:gosec // The file is the operator's choice.
		if err != nil {
			return nil, fmt.Errorf("-channels: %w", err)
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&all)
		if _, end := decoder.Token(); err == nil && end != io.EOF {
			err = errors.New("there is text after the list")
		}
		if err != nil {
			return nil, fmt.Errorf("-channels: %s is not a list of channels as in channels.json: %w", file, err)
		}
	}
	all = append(all, others...)
	var problems []error
	known := map[[2]string]bool{}
	accounts := map[account]bool{}
	for i := range all {
		if err := all[i].complete(lookup); err != nil {
			problems = append(problems, fmt.Errorf("channel %d (app %q, id %q): %w", i+1, all[i].App, all[i].ID, err))
		}
		key := [2]string{all[i].App, all[i].ID}
		if known[key] {
			problems = append(problems, fmt.Errorf("channel %d: app %q has channel %q twice: rename one", i+1, all[i].App, all[i].ID))
		}
		known[key] = true
		if of := (account{all[i].Type, all[i].Account}); of.id != "" {
			if accounts[of] {
				problems = append(problems, fmt.Errorf("channel %d: the account %s has a channel already: use another account", i+1, of.id))
			}
			accounts[of] = true
		}
	}
	return all, errors.Join(problems...)
}

type account struct {
	platform channel.Type
	id       string
}

// fieldsOf are the fields that a channel of each type needs, besides app and id. It has no others.
var fieldsOf = map[channel.Type][]string{
	channel.Custom:  {"url", "secretVariable"},
	channel.Webchat: {"secretVariable", "origins"},
	channel.Desk:    {},
	channel.Alpha:   {"account", "tokenVariable"},
	channel.Bravo:   {"account", "tokenVariable"},
	channel.Hotel:   {"account", "tokenVariable", "tenant"},
	channel.Echo:    {"account", "infoVariable"},
	channel.Foxtrot: {"account", "infoVariable"},
}

// complete checks a channel, and reads its secrets, so that bad ones fail now and not when the first member writes.
func (s *channelSettings) complete(lookup func(string) (string, bool)) error {
	s.Type = cmp.Or(s.Type, channel.Custom)
	if err := s.checkFields(); err != nil {
		return err
	}
	switch s.Type {
	case channel.Custom:
		if !s.isDemo() && !isWebAddress(s.URL) {
			return errors.New("url is invalid: give the address that messages are posted to, such as https://chat.example/bot")
		}
		return s.readSecrets(lookup, webhook.CheckSecret)
	case channel.Webchat:
		return s.readSecrets(lookup, func(secret channel.Secret) error {
			if len(secret.Reveal()) < webchat.MinSecret {
				return fmt.Errorf("must have at least %d bytes; make one with openssl rand -hex 32", webchat.MinSecret)
			}
			return nil
		})
	case channel.Alpha, channel.Bravo, channel.Hotel:
		value, _ := lookup(s.TokenVariable)
		if s.token = channel.NewSecret(value); value == "" {
			return fmt.Errorf("set the environment variable %s to the token of the account", s.TokenVariable)
		}
	case channel.Echo, channel.Foxtrot:
		return s.readInfo(lookup)
	case channel.Charlie, channel.Delta, channel.Desk: // They have no secrets.
	}
	return nil
}

// checkFields refuses missing fields, and fields that would be ignored.
func (s *channelSettings) checkFields() error {
	needed, isKnown := fieldsOf[s.Type]
	if !isKnown {
		return fmt.Errorf("type is %q: make it custom, webchat, desk, alpha, bravo, echo, foxtrot or hotel", s.Type)
	}
	var missing, other []string
	for _, field := range []struct {
		name    string
		isGiven bool
	}{
		{"app", s.App != ""},
		{"id", s.ID != ""},
		{"url", s.URL != "" || s.isDemo()},
		{"secretVariable", s.SecretVariable != ""},
		{"origins", len(s.Origins) > 0},
		{"account", s.Account != ""},
		{"tokenVariable", s.TokenVariable != ""},
		{"infoVariable", s.InfoVariable != ""},
		{"tenant", s.Tenant != ""},
	} {
		isNeeded := field.name == "app" || field.name == "id" || slices.Contains(needed, field.name)
		switch {
		case isNeeded && !field.isGiven:
			missing = append(missing, field.name)
		case !isNeeded && field.isGiven:
			other = append(other, field.name)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("a channel of type %s needs %s", s.Type, strings.Join(missing, ", "))
	case len(other) > 0:
		return fmt.Errorf("a channel of type %s does not use %s: remove it, or set another type", s.Type, strings.Join(other, ", "))
	default:
		return nil
	}
}

// readInfo reads the info of a channel, which is wholly in a variable.
func (s *channelSettings) readInfo(lookup func(string) (string, bool)) error {
	value, _ := lookup(s.InfoVariable)
	var fields document.Object
	if err := fields.UnmarshalJSON([]byte(value)); err != nil || fields.Len() == 0 {
		return fmt.Errorf("set the environment variable %s to the info of the channel, an object of JSON", s.InfoVariable)
	}
	var read channel.Channel
	if err := document.Decode(document.O("type", string(s.Type), "info", fields), &read); err != nil {
		return fmt.Errorf("%s: %w", s.InfoVariable, err)
	}
	s.info = read.Info
	return nil
}

// readSecrets reads the secrets of a channel, the newest first.
func (s *channelSettings) readSecrets(lookup func(string) (string, bool), check func(channel.Secret) error) error {
	value, _ := lookup(s.SecretVariable)
	for text := range strings.FieldsSeq(value) {
		secret := channel.NewSecret(text)
		if err := check(secret); err != nil {
			return fmt.Errorf("%s: %w", s.SecretVariable, err)
		}
		s.secrets = append(s.secrets, secret)
	}
	if len(s.secrets) == 0 {
		return fmt.Errorf("set the environment variable %s to the secret", s.SecretVariable)
	}
	return nil
}

// isWebAddress reports whether a text is an address of HTTP or HTTPS.
func isWebAddress(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http")
}

// isDemo reports whether this is the channel of the demonstration, which has no address yet.
func (s *channelSettings) isDemo() bool {
	return s.App == demoChannel.App && s.ID == demoChannel.ID && s.URL == ""
}

// record returns the channel as a record of the SDK.
func (s *channelSettings) record() channel.Channel {
	of := channel.Channel{ID: s.ID, App: s.App, Type: s.Type, On: true}
	switch s.Type {
	case channel.Alpha:
		of.Info = channel.AlphaInfo{AccessToken: s.token, PageID: s.Account}
	case channel.Bravo:
		of.Info = channel.BravoInfo{AdminAuthToken: s.token, WaID: s.Account}
	case channel.Echo, channel.Foxtrot:
		of.Info = s.info
	case channel.Hotel:
		of.Info = channel.OtherInfo{Hidden: channel.Hide(document.O("appId", s.Account, "appPassword", s.token.Reveal(), "tenantId", s.Tenant))}
	case channel.Webchat:
		of.Metadata, of.Info = document.O("origins", s.Origins), s.secretInfo("webchatSecret")
	case channel.Desk:
		return s.deskRecord()
	default:
		of.Metadata, of.Info = document.O("webhookUrl", s.URL), s.secretInfo("webhookSecret")
	}
	return of
}

// secretInfo returns the info of a channel with its secrets under a name.
func (s *channelSettings) secretInfo(name string) channel.Info {
	var secrets []any
	for _, secret := range s.secrets {
		secrets = append(secrets, secret.Reveal())
	}
	return channel.OtherInfo{Hidden: channel.Hide(document.O(name, secrets))}
}

// loadChannel returns a channel of an app, or NotFound.
type loadChannel = func(ctx context.Context, app, id string) (*channel.Channel, error)

// loader returns a function that finds a channel of the configuration.
func loader(all []channelSettings, others ...channel.Channel) loadChannel {
	records := map[[2]string]channel.Channel{}
	for _, settings := range all {
		others = append(others, settings.record())
	}
	for _, one := range others {
		records[[2]string{one.App, one.ID}] = one
	}
	return func(_ context.Context, app, id string) (*channel.Channel, error) {
		found, isKnown := records[[2]string{app, id}]
		if !isKnown {
			return nil, boterr.New(boterr.NotFound, "", "the app %s has no channel %s", app, id)
		}
		return &found, nil // A copy, which the caller may change.
	}
}

// finder returns a function that finds the channel of an account of a platform, or of a chat's id.
func finder(all []channelSettings, platform channel.Type) func(ctx context.Context, id string) (*channel.Channel, error) {
	return func(_ context.Context, id string) (*channel.Channel, error) {
		at := slices.IndexFunc(all, func(c channelSettings) bool { return c.Type == platform && cmp.Or(c.Account, c.ID) == id })
		if at < 0 {
			return nil, boterr.New(boterr.NotFound, "", "there is no channel for the account %s", id)
		}
		return new(all[at].record()), nil
	}
}

func has(all []channelSettings, platform channel.Type) bool {
	return slices.ContainsFunc(all, func(s channelSettings) bool { return s.Type == platform })
}

// telegramVariable holds the token of a Telegram bot, which is then a channel of this host.
const telegramVariable = "HOST_TELEGRAM_TOKEN"

// telegramID is the id of the channel, in the app of the demonstration.
const telegramID = "telegram"

// telegramChannels returns the channel of the bot, or none without a token.
func (c config) telegramChannels() []channel.Channel {
	token := c.telegramToken.Reveal()
	if token == "" {
		return nil
	}
	return []channel.Channel{{
		ID: telegramID, App: demoChannel.App, Type: telegram.Type, On: true,
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O("token", token))},
	}}
}

func (s *service) newTelegram(load loadChannel, drops *send.Drops) (*telegram.Connector, error) {
	return telegram.New(telegram.Config{
		APIURL: s.config.telegramURL, Store: s.store, LoadChannel: load, Drops: drops, Logger: s.log,
	})
}

// poll receives the messages of Telegram users until ctx ends. Without a token it only waits.
func (s *service) poll(ctx context.Context) error {
	if len(s.config.telegramChannels()) == 0 {
		<-ctx.Done()
		return nil
	}
	if err := s.telegram.Poll(ctx, demoChannel.App, telegramID, s.accept); err != nil {
		return fmt.Errorf("%s: %w", telegramVariable, err)
	}
	return nil
}
