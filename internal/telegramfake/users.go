package telegramfake

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// Date is the time of all messages, in Unix seconds.
const Date = 1_700_000_000

// Says makes a user write a text to a bot. in is the id of a chat, or "chat/topic". Says returns the update's
// id.
func (t *Telegram) Says(token string, user int64, in, text string) int64 {
	return t.Report(token, "message", t.MessageOf(user, in).With("text", text))
}

// MessageOf returns a message without content, from a user in a chat or topic.
func (t *Telegram) MessageOf(user int64, in string) document.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	message := document.O("message_id", t.next(), "date", Date, "from", t.user(user), "chat", t.chat(in))
	if _, of, isTopic := strings.Cut(in, "/"); isTopic {
		number, _ := strconv.ParseInt(of, 10, 64)
		message = message.With("is_topic_message", true).With("message_thread_id", number)
	}
	return message
}

// Taps makes a user tap on the button with this title. It returns the update's id.
func (t *Telegram) Taps(token string, user int64, on Message, title string) int64 {
	for _, button := range on.Buttons {
		if button.Text == title {
			return t.Report(token, "callback_query", t.TapOf(user, on, button.Data))
		}
	}
	panic("telegramfake: the message has no button " + title)
}

// TapOf returns a tap on a button with this data.
func (t *Telegram) TapOf(user int64, on Message, data string) document.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	message := t.object(&on, "")
	return document.O(
		"id", "query-"+strconv.FormatInt(t.next(), 10), "from", t.user(user), "chat_instance", "instance", "data", data, "message", message,
	)
}

// user returns a user as updates show them. Callers must hold the mutex.
func (t *Telegram) user(id int64) document.Object {
	name := "Somebody"
	if known := t.chats[strconv.FormatInt(id, 10)]; known != nil {
		name = known.name
	}
	return document.O("id", id, "is_bot", false, "first_name", name, "last_name", "Example", "language_code", "en")
}

// chat returns a chat as messages show it. Callers must hold the mutex.
func (t *Telegram) chat(id string) document.Object {
	id, _, _ = strings.Cut(id, "/")
	known := t.chats[id]
	if known.kind == "private" {
		return document.O("id", known.id, "type", known.kind, "first_name", known.name)
	}
	shown := document.O("id", known.id, "type", known.kind, "title", known.name)
	if known.topics != nil {
		shown = shown.With("is_forum", true)
	}
	return shown
}

// Report adds an update to a bot's updates and returns the update's id. kind is the field that contains object.
func (t *Telegram) Report(token, kind string, object document.Object) int64 {
	t.mu.Lock()
	id := t.next()
	update := document.O("update_id", id, kind, object)
	of := t.bots[token]
	of.updates = append(of.updates, update)
	close(of.news)
	of.news = make(chan struct{})
	t.mu.Unlock()
	if t.CheckUpdate != nil {
		t.CheckUpdate(update)
	}
	return id
}

// Push sends a bot's updates to its webhook's handler, and repeats each update until its status is 200. It makes
// no more than most requests, and returns their statuses.
func (t *Telegram) Push(ctx context.Context, token string, handler http.Handler, path string, most int) []int {
	var statuses []int
	for range most {
		t.mu.Lock()
		of := t.bots[token]
		if len(of.updates) == 0 {
			t.mu.Unlock()
			break
		}
		body, secret := of.updates[0].String(), of.secret
		t.mu.Unlock()
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader([]byte(body)))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		statuses = append(statuses, answer.Code)
		if answer.Code == http.StatusOK {
			t.mu.Lock()
			of.updates = of.updates[1:]
			t.mu.Unlock()
		}
	}
	return statuses
}
