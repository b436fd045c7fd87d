package webchat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
)

const (
	// keepAlive is the time without an event after which a stream sends a comment.
	keepAlive = 15 * time.Second
	// streamTime is the longest duration of a stream. The widget then opens another one.
	streamTime = 30 * time.Minute
	// writeTime limits the time to send an event.
	writeTime = 10 * time.Second
	// maxWait is the longest wait of a long poll.
	maxWait = 25 * time.Second
	// streamPage is the number of messages that a stream reads from the log at a time.
	streamPage = 50
	// maxHistory is the largest number of a visitor's messages that history can reach.
	maxHistory = chatlog.MaxPage
)

// event is an event in a stream. The package documentation describes the kinds.
type event struct {
	Kind     string             `json:"kind"`
	Seq      int64              `json:"seq,omitzero"`
	ID       string             `json:"id,omitzero"`
	ClientID string             `json:"clientId,omitzero"`
	From     string             `json:"from,omitzero"`
	Name     string             `json:"name,omitzero"`
	At       document.Timestamp `json:"at,omitzero"`
	Response *document.Object   `json:"response,omitzero"`
}

func messageEvent(e chatlog.Entry) event {
	id, isVisitors := strings.CutPrefix(e.Key, keyOfVisitor)
	made := event{Kind: "message", Seq: e.Seq, From: e.From, Name: e.Name, At: e.At, Response: &e.Body}
	if isVisitors {
		made.ID, made.ClientID = id, id
	} else {
		made.ID = strings.TrimPrefix(e.Key, keyOfMessage)
	}
	return made
}

// history answers with the messages before a number.
func (c *Connector) history(w http.ResponseWriter, r *http.Request, v visit) error {
	before, err := numberOf(r, "before")
	if err != nil {
		return err
	}
	limit, err := numberOf(r, "limit")
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = streamPage
	}
	page, err := c.log.Before(r.Context(), v.conversation, before, int(min(limit, maxHistory)))
	if err != nil {
		return err
	}
	newest, err := c.log.Newest(r.Context(), v.conversation)
	if err != nil {
		return err
	}
	events := []event{}
	for _, e := range page.Entries {
		if e.Seq > newest-maxHistory {
			events = append(events, messageEvent(e))
		}
	}
	hasMore := page.More && len(events) > 0 && events[0].Seq > newest-maxHistory+1
	answer(w, http.StatusOK, struct {
		Events []event `json:"events"`
		More   bool    `json:"more"`
	}{events, hasMore})
	return nil
}

// numberOf returns a query parameter, or 0 if it is missing.
func numberOf(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 {
		return 0, invalid(name, "must be a whole number that is not negative")
	}
	return number, nil
}

// stream answers with the events after a number. Without the parameter wait, it sends server-sent events until
// the reader leaves. With wait, a number of seconds, it answers with JSON as soon as there is an event.
func (c *Connector) stream(w http.ResponseWriter, r *http.Request, v visit) error {
	after, err := numberOf(r, "after")
	if err != nil {
		return err
	}
	wait, err := numberOf(r, "wait")
	if err != nil {
		return err
	}
	leave, err := c.streams.enter(v, c.config.Address(r))
	if err != nil {
		return err
	}
	defer leave()
	sub, err := c.log.Subscribe(v.conversation)
	if err != nil {
		return err
	}
	defer sub.Close()
	f := &follower{
		log: c.log, of: v.conversation, sub: sub, seq: after, typing: map[string]document.Timestamp{},
		isEnded: func(ctx context.Context) (bool, error) { return c.isEnded(ctx, v.ID) },
	}
	if r.URL.Query().Has("wait") {
		return c.longPoll(w, r, f, min(time.Duration(min(wait, 60))*time.Second, maxWait))
	}
	return c.serverSent(w, r, f, v)
}

// follower reads the events of a conversation in order.
type follower struct {
	log *chatlog.Log
	of  chatlog.Conversation
	sub *chatlog.Subscription
	// seq is the number of the last message that was read.
	seq int64
	// delivered is the last reported value of markDelivered. typing has, for each typist, the last reported time
	// at which typing ends.
	delivered int64
	typing    map[string]document.Timestamp
	// isEnded reports whether the session was ended. signedOut is the value of markSignedOut at the last check, or
	// unchecked.
	isEnded   func(ctx context.Context) (bool, error)
	signedOut int64
}

// next returns the events since the last call. more is true if there are further events already. The error is errToken
// if the session was ended.
func (f *follower) next(ctx context.Context) (events []event, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	page, err := f.log.After(ctx, f.of, f.seq, streamPage)
	if err != nil {
		return nil, false, err
	}
	if page.IsCut {
		if f.seq, err = f.log.Newest(ctx, f.of); err != nil {
			return nil, false, err
		}
		return []event{{Kind: "reset"}}, true, nil
	}
	answered := int64(0)
	for _, e := range page.Entries {
		events = append(events, messageEvent(e))
		f.seq = e.Seq
		if e.From != sideMe {
			answered = e.Seq
		}
	}
	if answered > 0 { // An answer implies that the bot has read the visitor's messages.
		events = append(events, event{Kind: "read", Seq: answered})
	}
	state, err := f.log.State(ctx, f.of)
	if err != nil {
		return nil, false, err
	}
	if err := f.checkSession(ctx, state); err != nil {
		return nil, false, err
	}
	events = append(events, f.changes(state)...)
	f.sub.Seen(f.seq, state.Version)
	return events, page.More, nil
}

// unchecked is a value of follower.signedOut that no mark has.
const unchecked = -1

// checkSession returns errToken if the session was ended. It looks the session up if it is unchecked, and after each
// sign-out of the visitor.
func (f *follower) checkSession(ctx context.Context, state chatlog.State) error {
	at := state.Marks[markSignedOut]
	if at == f.signedOut {
		return nil
	}
	isEnded, err := f.isEnded(ctx)
	if err != nil {
		return err
	}
	if isEnded {
		return errToken
	}
	f.signedOut = at
	return nil
}

func (f *follower) changes(state chatlog.State) (events []event) {
	if delivered := state.Marks[markDelivered]; delivered > f.delivered {
		f.delivered = delivered
		events = append(events, event{Kind: "delivered", Seq: delivered})
	}
	for _, typist := range state.Typing {
		if f.typing[typist.Key] != typist.Until {
			f.typing[typist.Key] = typist.Until
			events = append(events, event{Kind: "typing", From: typist.From, Name: typist.Name})
		}
	}
	return events
}

// longPoll answers with the next events. If there are none within the wait, it answers with an empty list.
func (c *Connector) longPoll(w http.ResponseWriter, r *http.Request, f *follower, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(r.Context(), wait+answerTime)
	defer cancel()
	state, err := f.log.State(ctx, f.of)
	if err != nil {
		return err
	}
	f.changes(state) // Skip changes from before the request.
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		events, _, err := f.next(ctx)
		if err != nil {
			return err
		}
		isOver := false
		if len(events) == 0 {
			select {
			case <-f.sub.C:
				continue
			case <-over.C:
			case <-c.closing:
			case <-ctx.Done():
			}
			isOver = true
		}
		if len(events) > 0 || isOver {
			answer(w, http.StatusOK, struct {
				Events []event `json:"events"`
			}{append([]event{}, events...)})
			return nil
		}
	}
}

// serverSent sends events until the reader leaves, the session ends, or streamTime has passed.
func (c *Connector) serverSent(w http.ResponseWriter, r *http.Request, f *follower, v visit) error {
	events, more, err := f.next(r.Context())
	if err != nil {
		return err
	}
	out := sender{w: w, control: http.NewResponseController(w)}
	out.begin()
	defer out.control.SetWriteDeadline(time.Time{}) //nolint:errcheck // Later requests have their own deadline.
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	over := time.NewTimer(streamTime)
	defer over.Stop()
	for {
		out.send(events)
		if err := out.flush(); err != nil { // Usually the reader has left.
			if errors.Is(err, http.ErrNotSupported) {
				c.warn(r.Context(), "webchat: stream failed, because a handler around this one hides http.Flusher", err)
			}
			return nil
		}
		if !more {
			select {
			case <-f.sub.C:
			case <-alive.C:
				out.comment()
				f.signedOut = unchecked // The mark of a sign-out may be missing.
			case <-over.C:
				return nil
			case <-c.closing:
				return nil
			case <-r.Context().Done():
				return nil
			}
		}
		if events, more, err = f.next(r.Context()); errors.Is(err, errToken) || c.config.Now().Unix() >= v.Expires {
			out.send([]event{{Kind: "bye"}})
			_ = out.flush()
			return nil
		}
		if err != nil {
			c.warn(r.Context(), "webchat: stream ended", err)
			return nil // The reader reconnects and continues after the last message.
		}
	}
}

// sender writes server-sent events.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
	text    []byte
}

func (s *sender) begin() {
	header := s.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Accel-Buffering", "no")
	_ = s.control.SetReadDeadline(time.Time{}) // The server's read timeout would end the stream.
	s.w.WriteHeader(http.StatusOK)
	s.text = append(s.text, "retry: 1000\n\n"...)
}

func (s *sender) send(events []event) {
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			continue // A stored message can always be encoded.
		}
		if e.Kind == "message" {
			s.text = strconv.AppendInt(append(s.text, "id: "...), e.Seq, 10)
			s.text = append(s.text, '\n')
		}
		s.text = append(append(append(s.text, "data: "...), text...), "\n\n"...)
	}
}

func (s *sender) comment() { s.text = append(s.text, ": \n\n"...) }

func (s *sender) flush() error {
	if len(s.text) == 0 {
		return nil
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:forbidigo // Deadlines use the machine's clock.
	_, err := s.w.Write(s.text)
	s.text = nil // An idle stream uses no memory.
	if err != nil {
		return err
	}
	return s.control.Flush()
}
