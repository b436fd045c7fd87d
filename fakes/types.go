package fakes

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// hasType refuses a message of a type that is another platform's own, as articles are Echo's.
// Unknown types may be the platform's own.
func hasType(platform channel.Type, response send.Response) error {
	if owner, isOwned := channel.OwnerOf(string(response.Type())); isOwned && platform != owner {
		return boterr.New(boterr.Unsupported, "type",
			"channels of type %s have no messages of type %s: send those to channels of type %s alone, and another one here",
			platform, response.Type(), owner)
	}
	return nil
}
