package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// reached returns the ids on the platform of who was sent something, in order.
func reached(f *florist) []string {
	var to []string
	for _, sent := range f.Sent() {
		to = append(to, sent.To)
	}
	return to
}

func TestNews_ReachEverybody(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		later, err := Announce(t.Context(), f.shop(ada.on), news(), ada.ID(), ada.bob.ID())
		require.NoError(t, err)
		require.Empty(t, later)
		if ada.on == channel.Hotel {
			require.Equal(t, []string{plantLovers}, reached(f))
			continue
		}
		require.Equal(t, []string{ada.ExternalID(), ada.bob.ExternalID()}, reached(f))
	}
}

func TestNews_LaterAfterALimit(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		if ada.on == channel.Hotel {
			continue // One message is for all.
		}
		f.LimitSends(string(ada.on), 1, time.Minute)
		later, err := Announce(t.Context(), f.shop(ada.on), news(), ada.ID(), ada.bob.ID())
		require.NoError(t, err)
		require.Equal(t, []string{ada.bob.ID()}, later)

		later, err = Announce(t.Context(), f.shop(ada.on), news(), later...)
		require.NoError(t, err)
		require.Equal(t, []string{ada.bob.ID()}, later, "it is too early")

		f.Advance(time.Minute)
		later, err = Announce(t.Context(), f.shop(ada.on), news(), later...)
		require.NoError(t, err)
		require.Empty(t, later)
		require.Equal(t, []string{ada.ExternalID(), ada.bob.ExternalID()}, reached(f))
	}
}

func TestNews_RefusedByOne(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		if ada.on == channel.Hotel {
			continue
		}
		f.RefuseSends(boterr.FailedPrecondition, ada)
		f.LimitSends(string(ada.on), 2, time.Minute)
		later, err := Announce(t.Context(), f.shop(ada.on), news(), ada.ID(), ada.bob.ID())
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.Empty(t, later)
		require.Equal(t, []string{ada.bob.ExternalID()}, reached(f))
	}
}

func TestNews_LimitAndRefusal(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Bravo)
	f.RefuseSends(boterr.FailedPrecondition, ada)
	f.LimitSends("bravo", 1, time.Minute)
	later, err := Announce(t.Context(), f.shop(channel.Bravo), news(), ada.ID(), ada.bob.ID())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Equal(t, []string{ada.bob.ID()}, later)
}

func TestNews_CannotBeSent(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		later, err := Announce(t.Context(), f.shop(ada.on), send.Text(""), ada.ID())
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.Empty(t, later)
	}
}

func TestThanks_ToBuyersAlone(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Alpha)
	ada.orders(t)
	f.Advance(fakes.EventDelay)
	require.NoError(t, ThankBuyers(t.Context(), f.shop(channel.Alpha), send.Text("Thank you!")))
	require.Equal(t, "Thank you!", ada.Last())
	require.Empty(t, ada.bob.Messages())
}

func TestThanks_WithoutBuyers(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	require.ErrorIs(t, ThankBuyers(t.Context(), f.shop(channel.Alpha), send.Text("Thank you!")), boterr.NotFound)
	require.ErrorIs(t, ThankBuyers(t.Context(), f.shop(channel.Bravo), send.Text("Thank you!")), boterr.Unsupported)
}
