package main

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// onEach returns a shop of its own for each platform, with Ada there.
func onEach(t *testing.T) iter.Seq2[*florist, customer] {
	t.Helper()
	return func(yield func(*florist, customer) bool) {
		on := channel.Type("")
		defer func() {
			if t.Failed() {
				t.Logf("on %s", on)
			}
		}()
		for _, platform := range platforms {
			on = platform.on
			if f := newFlorist(fakes.For(t)); !yield(f, f.ada(on)) {
				return
			}
		}
	}
}

func TestHello_TellsWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, ada := range onEach(t) {
		ada.Says("hi")
		require.Contains(t, ada.Last(), "Hello Ada!")
		require.Equal(t, "Bouquets", ada.LastMessage().QuickReplies()[0].Title)
		ada.TapsOn("Bouquets")
		cards := ada.LastMessage().Cards()
		require.Len(t, cards, 2)
		require.Equal(t, "Tulips, 19.00 EUR", cards[0].Title+", "+cards[0].Subtitle)
		require.Equal(t, send.TypeTyping, ada.Messages()[1].Type())
	}
}

func TestBouquet_ShownAtItsBest(t *testing.T) {
	t.Parallel()
	best := map[channel.Type]send.Type{channel.Bravo: send.TypeTemplate, channel.Echo: send.TypeNews}
	for _, ada := range onEach(t) {
		ada.Says("week")
		want, hasOther := best[ada.on]
		if !hasOther {
			want = send.TypeImage
		}
		require.Equal(t, want, ada.LastMessage().Type())
	}
}

func TestBouquet_AlphaKeepsPicture(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Alpha)
	ada.Says("week")
	ada.Says("week")
	require.Len(t, f.Attachments("alpha"), 1)
	require.Equal(t, send.Attachment(send.TypeImage, f.Attachments("alpha")[0].ID).String(), ada.LastMessage().String())
}

func TestPerson_HandedOverOnAlpha(t *testing.T) {
	t.Parallel()
	ada := newFlorist(fakes.For(t)).ada(channel.Alpha)
	ada.Says("person")
	require.Equal(t, "Somebody from the shop will write to you here.", ada.Last())
	require.Equal(t, fakes.Thread{AppID: fakes.PageInbox, Metadata: "Ada asks for a person"}, ada.Thread())
	require.ErrorIs(t, ada.TrySays("hi"), boterr.FailedPrecondition)
	ada.ReturnThread()
	ada.Says("hi")
	require.Contains(t, ada.Last(), "Hello Ada!")
}

func TestPerson_CallElsewhere(t *testing.T) {
	t.Parallel()
	for _, ada := range onEach(t) {
		if ada.on == channel.Alpha {
			continue
		}
		ada.Says("person")
		require.Contains(t, ada.Last(), "555 0110")
	}
}

func TestGoodbye_ArchivesOnCharlie(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		ada.Says("bye")
		require.Equal(t, "Goodbye, Ada!", ada.Last())
		if ada.on != channel.Charlie {
			ada.Says("hi")
			continue
		}
		require.True(t, f.IsArchived("charlie", f.Sent()[0].ChatID))
		require.ErrorIs(t, ada.TrySays("hi"), boterr.FailedPrecondition)
	}
}

func TestLogic_FailureCanBeRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		on   channel.Type
		op   botctx.Op
		says string
	}{
		{channel.Alpha, botctx.OpAlphaGetAttachmentID, "week"},
		{channel.Alpha, botctx.OpSendResponse, "person"},
		{channel.Alpha, botctx.OpAlphaPassThreadControl, "person"},
		{channel.Charlie, botctx.OpSendResponse, "bye"},
		{channel.Charlie, botctx.OpCharlieArchiveConversation, "bye"},
	} {
		f := newFlorist(fakes.For(t))
		ada := f.ada(test.on)
		f.FailNext(test.op, boterr.Unavailable)
		require.ErrorIs(t, ada.TrySays(test.says), boterr.Unavailable, test.op)
		ada.Says(test.says)
	}
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(Nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
