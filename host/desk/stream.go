package desk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

const (
	// beat is the interval at which a stream sends a sign of life and checks the agent's sign-in.
	beat = 15 * time.Second
	// writeTime is the time that a client has to receive an event.
	writeTime = 10 * time.Second
	// maxStreams is the largest number of streams of an agent: one for each browser, in general.
	maxStreams = 8
)

// stream writes server-sent events.
type stream struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

// send writes a text, and reports whether the client still reads.
func (s stream) send(text string) bool {
	_ = s.out.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:forbidigo // A socket has the machine's clock.
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return false
	}
	return s.out.Flush() == nil
}

// event writes an event with JSON as its data.
func (s stream) event(kind string, data any) bool {
	text, err := json.Marshal(data)
	return err == nil && s.send("event: "+kind+"\ndata: "+string(text)+"\n\n")
}

// events streams the open chats and the agents: first all of them, then the changes. It ends with the event bye if the
// agent is no longer signed in, or has other apps.
func (p *pages) events(w http.ResponseWriter, r *http.Request) {
	agent, ok := p.signedIn(w, r)
	if !ok {
		return
	}
	if !p.enter(agent.ID, 1) {
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusTooManyRequests, boterr.New(boterr.ResourceExhausted, "", "you have %d streams open; close a window", maxStreams))
		return
	}
	defer p.enter(agent.ID, -1)
	listening, leave := p.desk.listen(agent.Apps) //nolint:contextcheck // All streams share the reading.
	defer leave()
	out := stream{w, http.NewResponseController(w)}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // Tells a proxy not to buffer.
	w.WriteHeader(http.StatusOK)
	if !out.send("retry: 1000\n\n") || !out.event("hello", map[string]string{"version": p.version}) {
		return
	}
	p.pour(out, r, agent, listening)
}

// pour sends changes until the client is gone, the agent is signed out, or the desk closes.
func (p *pages) pour(out stream, r *http.Request, agent *Agent, listening *listener) {
	beats := time.NewTicker(p.desk.beat)
	defer beats.Stop()
	known, look := map[string]bool{}, int64(0)
	for {
		told, now := p.desk.hub.since(listening, look, known)
		told.IsAll = look == 0 && now > 0
		isNews := told.IsAll || len(told.Set)+len(told.Gone) > 0 || told.Agents != nil
		if look = now; isNews && !out.event("news", told) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-p.desk.closing:
			return
		case <-listening.wake:
		case <-beats.C:
			if !out.send(": here\n\n") {
				return
			}
			if !p.isStill(r, agent) {
				out.event("bye", struct{}{})
				return
			}
		}
	}
}

// isStill reports whether the agent of a stream is still signed in for the same apps, and records the agent's
// presence.
func (p *pages) isStill(r *http.Request, agent *Agent) bool {
	now, err := p.agentOf(r)
	if err != nil {
		return true // The host cannot check now. Each request is checked anyway.
	}
	if now == nil || now.ID != agent.ID || !slices.Equal(now.Apps, agent.Apps) {
		return false
	}
	_ = p.desk.setAgent(r.Context(), agent.ID, fieldSeenAt, p.desk.now()) // The next beat tries again.
	return true
}

// enter adds to the number of an agent's streams, unless there are too many.
func (p *pages) enter(agent string, streams int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[agent]+streams > maxStreams {
		return false
	}
	p.open[agent] += streams
	if p.open[agent] == 0 {
		delete(p.open, agent)
	}
	return true
}
