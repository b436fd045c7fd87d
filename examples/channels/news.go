package main

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// plantLovers is the shop's group on Hotel, which reads the news together.
const plantLovers = "group-plant-lovers"

// Announce sends news to members of the context's channel. It returns those who did not get it
// because of the platform's rate limit, for another try later, also together with the error that
// others did not get it.
func Announce(ctx context.Context, bot *botctx.Context, news send.Response, to ...string) (later []string, err error) {
	switch bot.Channel.Type {
	case channel.Alpha:
		_, err = bot.SendAlphaResponseToMemberIDs(ctx, send.SendAlphaResponseToMemberIDsParams{MemberID: to, Response: news})
	case channel.Delta:
		_, err = bot.SendDeltaResponse(ctx, send.SendDeltaResponseParams{MemberID: to, Response: news})
	case channel.Hotel:
		_, err = bot.SendHotelResponse(ctx, send.SendHotelResponseParams{HotelGroupID: plantLovers, Response: news})
	default:
		_, err = bot.SendResponse(ctx, send.SendResponseParams{MemberID: to, Response: news})
	}
	return tooMany(err)
}

// tooMany returns the members who did not get a message because of a rate limit. The error stays
// where others did not get it either.
func tooMany(err error) (later []string, _ error) {
	undelivered, isUndelivered := errors.AsType[*send.UndeliveredError](err)
	if !isUndelivered {
		return nil, err
	}
	for _, failure := range undelivered.Failures {
		if errors.Is(failure.Err, boterr.ResourceExhausted) {
			later = append(later, failure.MemberID)
		}
	}
	if len(later) < len(undelivered.Failures) {
		return later, err
	}
	return later, nil
}

// ThankBuyers sends a message to all on Alpha who have bought something.
func ThankBuyers(ctx context.Context, bot *botctx.Context, thanks send.Response) error {
	stored, err := bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: thanks})
	if err != nil {
		return err
	}
	for _, message := range stored.Result {
		_, err := bot.AlphaSendBroadcast(ctx, send.AlphaSendBroadcastParams{
			BroadcastID: message.ID(), LabelID: buyersLabel, NotificationType: "REGULAR",
		})
		if err != nil {
			return err
		}
	}
	return nil
}
