package main

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

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
