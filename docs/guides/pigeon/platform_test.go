package pigeon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/send/sendtest"
)

// platform is a fake of the part of Pigeon that the connector uses.
type platform struct {
	// channels maps the tokens that Pigeon accepts to the ids of their channels.
	channels map[string]string

	mu    sync.Mutex
	shown []sendtest.Arrival
}

// arrived returns the messages that were shown.
func (p *platform) arrived() []sendtest.Arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.shown)
}

// ServeHTTP shows a message. A message with a key that was shown before is not shown again.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var posted struct {
		To   string `json:"to"`
		Text string `json:"text"`
	}
	in := p.channels[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch err := json.Unmarshal(body, &posted); {
	case in == "":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	i := slices.IndexFunc(p.shown, func(known sendtest.Arrival) bool { return known.Key == key })
	if i < 0 {
		i = len(p.shown)
		p.shown = append(p.shown, sendtest.Arrival{Channel: in, To: posted.To, Key: key, Text: posted.Text, Body: string(body)})
	}
	_, _ = fmt.Fprintf(w, `{"id": "p-%d", "room": "room-of-%s", "sentAt": 1700000000}`, i, posted.To)
}
