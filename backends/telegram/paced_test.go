package telegram_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/send"
)

// paced is a connector that records the times of messages.
type paced struct {
	start time.Time

	mu sync.Mutex
	at []came
}

type came struct {
	to    string
	after time.Duration
}

func (p *paced) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chat, _, _ := strings.Cut(message.To, "/")
	p.at = append(p.at, came{chat, time.Since(p.start)}) //nolint:forbidigo // Virtual time.
	return send.Delivery{}, nil
}

// most returns the largest number of messages to a recipient within any period of this length. If to is "", it
// counts all messages.
func (p *paced) most(to string, within time.Duration) (most int) {
	for _, first := range p.at {
		count := 0
		for _, other := range p.at {
			if (to == "" || other.to == to) && other.after >= first.after && other.after < first.after+within {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}
