package fakes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// sendBoth sends a text to both members by one request.
func (s *shop) sendBoth(t *testing.T, text string) (send.Batch, error) {
	t.Helper()
	return portOf[send.BatchSender](t, s).SendBatch(t.Context(),
		[]send.Message{s.messageTo(s.ada, send.Text(text)), s.messageTo(s.lise, send.Text(text))})
}

func TestDeltaBatch_SeveralMessages(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Delta)
	batch, err := s.sendBoth(t, "hi")
	require.NoError(t, err)
	require.Equal(t, "req-000001", batch.ID)
	require.Equal(t, "OK", batch.Status)
	require.Equal(t, []string{"hi", "hi"}, []string{s.ada.Last(), s.lise.Last()})
	require.Equal(t, []string{"dm-000001", "dm-000002"},
		[]string{batch.Outcomes[0].Delivery.MessageID, batch.Outcomes[1].Delivery.MessageID})
}

func TestDeltaBatch_OutcomeOfEach(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Delta)
	s.RefuseSends(boterr.FailedPrecondition, s.ada)
	batch, err := s.sendBoth(t, "hi")
	require.NoError(t, err)
	require.Equal(t, "PARTIAL", batch.Status)
	requireCode(t, boterr.FailedPrecondition, batch.Outcomes[0].Err)
	require.NoError(t, batch.Outcomes[1].Err)
	require.Empty(t, s.ada.Messages())
	require.Equal(t, "hi", s.lise.Last())

	s.RefuseSends(boterr.NotFound, s.lise)
	batch, err = s.sendBoth(t, "hi again")
	require.NoError(t, err)
	require.Equal(t, "FAILED", batch.Status)
}

func TestDeltaBatch_MessageAlone(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Delta)
	require.Equal(t, document.O("id", "req-000001", "STATUS", "OK"), s.mustSend(t, s.ada, "hi").Reply)
	require.Equal(t, document.O("id", "req-000002", "STATUS", "OK"), s.mustSend(t, s.ada, "hi").Reply)
}

func TestDeltaBatch_Empty(t *testing.T) {
	t.Parallel()
	_, err := portOf[send.BatchSender](t, shopOn(t, channel.Delta)).SendBatch(t.Context(), nil)
	requireCode(t, boterr.InvalidArgument, err)
}
