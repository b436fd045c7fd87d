package webhook

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Endpoint is where the messages of a channel go, and the secrets of both directions.
type Endpoint struct {
	// URL is where messages are posted to. Handler does not need it.
	URL string
	// Secrets sign what is sent, each of them; what arrives is signed with one of them. There
	// are several while one replaces another.
	Secrets []channel.Secret
}

// ChannelEndpoint takes the address from the channel's metadata ("webhookUrl") and the secret
// from its info ("webhookSecret", a text or an array of texts). The info must be an OtherInfo,
// as the types custom and webchat have.
func ChannelEndpoint(_ context.Context, of *channel.Channel) (Endpoint, error) {
	endpoint := Endpoint{URL: document.Get(of.Metadata, "webhookUrl", "")}
	info, ok := of.Info.(channel.OtherInfo)
	if !ok {
		return endpoint, nil
	}
	secret, _ := info.Reveal().Field("webhookSecret")
	texts := []any{secret}
	if several, ok := secret.(document.Array); ok {
		texts = texts[:0]
		for _, one := range several.All() {
			texts = append(texts, one)
		}
	}
	for _, text := range texts {
		if text, ok := text.(string); ok {
			endpoint.Secrets = append(endpoint.Secrets, channel.NewSecret(text))
		}
	}
	return endpoint, nil
}

// endpoint returns the endpoint of a channel with at least one secret.
func (c *Connector) endpoint(ctx context.Context, of *channel.Channel) (Endpoint, error) {
	endpoint, err := c.config.Endpoint(ctx, of)
	if err == nil && len(endpoint.Secrets) == 0 {
		err = boterr.New(boterr.FailedPrecondition, "",
			"the channel has no secret to sign with: set webhookSecret in its info, or give Config.Endpoint")
	}
	return endpoint, err
}
