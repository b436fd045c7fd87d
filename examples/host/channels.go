package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// channelSettings is a channel as the file of channels has it. Channels are not in the
// store: the file is under the host's version control, and the secrets are nowhere but in
// the environment.
type channelSettings struct {
	App string `json:"app"`
	ID  string `json:"id"`
	// URL is the address for the bot's messages.
	URL string `json:"url"`
	// SecretVariable is the environment variable that holds the secret of both directions.
	SecretVariable string `json:"secretVariable"`

	secrets []channel.Secret
}

// readChannels returns the channels of a file, if one is named, with others behind them. Its
// error tells all that is wrong.
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
		if err := decoder.Decode(&all); err != nil {
			return nil, fmt.Errorf("-channels: %s is no list of channels as in channels.json: %w", file, err)
		}
	}
	all = append(all, others...)
	if len(all) == 0 {
		return nil, errors.New("there is no channel: name a file of channels with -channels, or try -demo")
	}
	var problems []error
	known := map[[2]string]bool{}
	for i := range all {
		if err := all[i].complete(lookup); err != nil {
			problems = append(problems, fmt.Errorf("channel %d (app %q, id %q): %w", i+1, all[i].App, all[i].ID, err))
		}
		key := [2]string{all[i].App, all[i].ID}
		if known[key] {
			problems = append(problems, fmt.Errorf("channel %d: app %q has channel %q twice: rename one", i+1, all[i].App, all[i].ID))
		}
		known[key] = true
	}
	return all, errors.Join(problems...)
}

// complete checks a channel, and reads its secrets.
func (s *channelSettings) complete(lookup func(string) (string, bool)) error {
	if s.App == "" || s.ID == "" || s.SecretVariable == "" {
		return errors.New("app, id and secretVariable must not be empty")
	}
	at, err := url.Parse(s.URL)
	if !s.isDemo() && (err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http") {
		return errors.New("url is invalid: give the address that messages are posted to, such as https://chat.example/bot")
	}
	value, _ := lookup(s.SecretVariable)
	for text := range strings.FieldsSeq(value) {
		s.secrets = append(s.secrets, channel.NewSecret(text))
	}
	if len(s.secrets) == 0 {
		return fmt.Errorf("set the environment variable %s to the secret", s.SecretVariable)
	}
	// What cannot sign is found now, and not when the first member writes.
	for _, secret := range s.secrets {
		if err := webhook.CheckSecret(secret); err != nil {
			return fmt.Errorf("%s: %w", s.SecretVariable, err)
		}
	}
	return nil
}

// isDemo reports whether this is the channel of the demonstration, which has no address yet.
func (s *channelSettings) isDemo() bool {
	return s.App == demoChannel.App && s.ID == demoChannel.ID && s.URL == ""
}

// record returns the channel as the SDK knows it.
func (s *channelSettings) record() channel.Channel {
	var secrets []any
	for _, secret := range s.secrets {
		secrets = append(secrets, secret.Reveal())
	}
	return channel.Channel{
		ID: s.ID, App: s.App, Type: channel.Webchat, On: true,
		Metadata: document.O("webhookUrl", s.URL),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webhookSecret", secrets))},
	}
}

// loader returns a function that finds a channel of the configuration.
func loader(all []channelSettings) func(ctx context.Context, app, id string) (*channel.Channel, error) {
	records := map[[2]string]channel.Channel{}
	for _, settings := range all {
		records[[2]string{settings.App, settings.ID}] = settings.record()
	}
	return func(_ context.Context, app, id string) (*channel.Channel, error) {
		found, isKnown := records[[2]string{app, id}]
		if !isKnown {
			return nil, boterr.New(boterr.NotFound, "", "the app %s has no channel %s", app, id)
		}
		return &found, nil // A copy: a caller may change its own.
	}
}
