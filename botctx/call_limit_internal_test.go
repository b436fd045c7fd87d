package botctx

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/chatplatform/chatplatformtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// A boundedConnector passes the conformance suite, and has the same ports as the wrapped connector.
func TestBoundedConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		h := chatplatformtest.NewHarness(t, channel.Webchat)
		h.Connector = limited(h.Connector)
		return h
	})
}

// limited returns a webchat connector with a time limit.
func limited(inner send.Connector) send.Connector {
	config := Config{MaxSend: time.Minute, Connectors: send.Connectors{channel.Webchat: inner}}
	return config.boundedConnectors()[channel.Webchat]
}

// taker is a connector that accepts everything at once.
type taker struct{}

func (taker) Send(ctx context.Context, _ send.Message) (send.Delivery, error) {
	return send.Delivery{}, ctx.Err()
}

// A limit costs one small allocation if nothing waits for Done.
//
//nolint:paralleltest // Concurrent tests would add their allocations.
func TestBoundedConnector_Allocates(t *testing.T) {
	connector := limited(taker{})
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		_, _ = connector.Send(t.Context(), send.Message{})
	}), 1.0)
}
