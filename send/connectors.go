package send

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// Connectors are the platforms that can be sent to, by type of channel.
type Connectors map[channel.Type]Connector

// Of returns the connector to the platform of a channel, or Unsupported.
func (c Connectors) Of(in *channel.Channel) (Connector, error) {
	if connector := c[in.Type]; connector != nil {
		return connector, nil
	}
	return nil, boterr.New(boterr.Unsupported, "",
		"this host has no connector for channels of type %q, of which %s is one", in.Type, in.ID)
}

// RequirePort returns a further port of the connector to a channel's platform, or Unsupported.
// what is what the port does, such as "upload files".
func RequirePort[Port any](connectors Connectors, in *channel.Channel, what string) (Port, error) {
	var none Port
	connector, err := connectors.Of(in)
	if err != nil {
		return none, err
	}
	port, ok := PortOf[Port](connector)
	if !ok {
		return none, boterr.New(boterr.Unsupported, "", "this host's connector for channels of type %q cannot %s", in.Type, what)
	}
	return port, nil
}
