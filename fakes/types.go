package fakes

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// hasType refuses a message of a documented type that its platform does not have: articles are
// Echo's, and templates Bravo's. Unknown types may be the platform's own.
func hasType(platform channel.Type, response send.Response) error {
	only := map[send.Type]channel.Type{send.TypeNews: channel.Echo, send.TypeTemplate: channel.Bravo}
	if owner, isOwned := only[response.Type()]; isOwned && platform != owner {
		return boterr.New(boterr.Unsupported, "type",
			"channels of type %s have no messages of type %s: send those to channels of type %s alone, and another one here",
			platform, response.Type(), owner)
	}
	return nil
}
