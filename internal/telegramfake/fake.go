// Package telegramfake is an in-memory Telegram for tests: an http.Handler for its Bot API, and users who write
// and tap.
//
//   - To serve the API, start a server with the [Telegram] that [New] returns.
//   - To act as a user, call Says, Taps and Report. The updates wait for getUpdates, or for [Telegram.Push]
//     to a webhook.
//   - To inspect the visible messages, call Messages.
//   - To make the API fail as the real one does, pass [Faults] to sendtest.NewServer.
package telegramfake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Telegram is an in-memory Telegram, created by New. It is safe for concurrent use.
type Telegram struct {
	// Check, if set, is called with each request that has parameters, and with its answer. Do not change it
	// after the first request.
	Check func(Exchange)
	// CheckUpdate, if set, is called with each update before it is delivered.
	CheckUpdate func(update document.Object)

	mu       sync.Mutex
	bots     map[string]*bot
	chats    map[string]*chat
	messages []*Message
	files    map[string]string
	calls    []string
	// last is the last assigned id.
	last int64
}

// Exchange is a request for a method, and its answer.
type Exchange struct {
	Method string
	Params document.Object
	// Files has the media types of uploaded parameters.
	Files  map[string]string
	Status int
	Answer document.Object
}

// Message is a message from a bot.
type Message struct {
	// Channel is the bot's channel, as given to AddBot.
	Channel string
	// ID is the message's number. Chat is the id of the chat, or "chat/topic".
	ID   int64
	Chat string
	// Method is the method that sent the message, such as "sendPhoto".
	Method string
	// Text is the current text or caption.
	Text string
	// Buttons are the current buttons below the message, in order.
	Buttons []Button
	// Sent has all parameters of the request.
	Sent document.Object
	// IsDeleted is true if the message was deleted.
	IsDeleted bool
}

// Button is a button below a message, with either Data or URL.
type Button struct{ Text, Data, URL string }

// bot is a bot and its updates.
type bot struct {
	channel string
	updates []document.Object
	// waiting interrupts the request that waits for updates. news wakes it.
	waiting, news   chan struct{}
	webhook, secret string
	offset          int64
	answered        []string
}

// chat is a chat with a user, or a group.
type chat struct {
	id               int64
	kind, name, link string
	links            int
	topics           map[int64]topic
	isBlocked        bool
	movedTo          int64
	isTyping         bool
}

type topic struct {
	name     string
	isClosed bool
}

// New returns an empty Telegram.
func New() *Telegram {
	return &Telegram{bots: map[string]*bot{}, chats: map[string]*chat{}, files: map[string]string{}, last: 1000}
}

// AddBot adds a bot with this token. Its messages have this Channel.
func (t *Telegram) AddBot(token, channel string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bots[token] = &bot{channel: channel, news: make(chan struct{})}
}

// RevokeToken removes a bot.
func (t *Telegram) RevokeToken(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bots, token)
}

// AddUser adds a user who has started every bot.
func (t *Telegram) AddUser(id int64, name string) {
	t.addChat(&chat{id: id, kind: "private", name: name})
}

// AddGroup adds a group in which every bot is an administrator. Its id is negative.
func (t *Telegram) AddGroup(id int64, name string) {
	t.addChat(&chat{id: id, kind: "group", name: name})
}

// AddForum adds a group with topics in which every bot is an administrator. Its id is negative.
func (t *Telegram) AddForum(id int64, name string) {
	t.addChat(&chat{id: id, kind: "supergroup", name: name, topics: map[int64]topic{}})
}

func (t *Telegram) addChat(added *chat) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chats[strconv.FormatInt(added.id, 10)] = added
}

// AddTopic adds a topic to a group and returns its id as "group/topic".
func (t *Telegram) AddTopic(group int64, name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := t.next()
	t.chats[strconv.FormatInt(group, 10)].topics[id] = topic{name: name}
	return fmt.Sprintf("%d/%d", group, id)
}

// Block makes a user block or unblock every bot. The bots get no update.
func (t *Telegram) Block(user int64, isBlocked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chats[strconv.FormatInt(user, 10)].isBlocked = isBlocked
}

// Move turns a group into a supergroup with a new id.
func (t *Telegram) Move(from, to int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.chats[strconv.FormatInt(from, 10)]
	old.movedTo = to
	t.chats[strconv.FormatInt(to, 10)] = &chat{id: to, kind: "supergroup", name: old.name}
}

// AddFile adds the content of a file.
func (t *Telegram) AddFile(id, content string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[id] = content
}

// Renumber makes id the next number. After a week without updates, Telegram continues their ids with any number.
func (t *Telegram) Renumber(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = id - 1
}

// next returns the next number. Callers must hold the mutex.
func (t *Telegram) next() int64 {
	t.last++
	return t.last
}

// Messages returns the messages from bots in their current form, in order.
func (t *Telegram) Messages() []Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := make([]Message, len(t.messages))
	for i, message := range t.messages {
		shown[i] = *message
		shown[i].Buttons = slices.Clone(message.Buttons)
	}
	return shown
}

// Arrivals returns the messages as sendtest compares them.
func (t *Telegram) Arrivals() []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, shown := range t.Messages() {
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: shown.Channel, To: shown.Chat, Text: shown.Text, Body: shown.Sent.String(), IsRecalled: shown.IsDeleted,
		})
	}
	return arrivals
}

// Last returns the last message in a chat or topic in its current form.
func (t *Telegram) Last(chat string) (Message, bool) {
	shown := t.Messages()
	for _, message := range slices.Backward(shown) {
		if message.Chat == chat && !message.IsDeleted {
			return message, true
		}
	}
	return Message{}, false
}

// Calls returns the called methods, in order.
func (t *Telegram) Calls() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// Answered returns the ids of callback queries that a bot has answered.
func (t *Telegram) Answered(token string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.bots[token].answered)
}

// Offset returns the greatest offset that a bot has requested.
func (t *Telegram) Offset(token string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bots[token].offset
}

// IsTyping reports whether a bot showed typing in a chat.
func (t *Telegram) IsTyping(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chats[id].isTyping
}

// IsClosed reports whether a topic is closed.
func (t *Telegram) IsClosed(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	in, of, _ := strings.Cut(id, "/")
	number, _ := strconv.ParseInt(of, 10, 64)
	return t.chats[in].topics[number].isClosed
}

// TopicName returns the name of a topic.
func (t *Telegram) TopicName(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	in, of, _ := strings.Cut(id, "/")
	number, _ := strconv.ParseInt(of, 10, 64)
	return t.chats[in].topics[number].name
}

// Faults returns Telegram's answers for the faults of sendtest.
func Faults() map[sendtest.Fault]http.HandlerFunc {
	return map[sendtest.Fault]http.HandlerFunc{
		sendtest.RateLimited: Refuses(http.StatusTooManyRequests, "Too Many Requests: retry after 3600",
			"retry_after", int64(sendtest.ComeAgain.Seconds())),
		sendtest.BadCredentials:   Refuses(http.StatusUnauthorized, "Unauthorized"),
		sendtest.UnknownRecipient: Refuses(http.StatusBadRequest, "Bad Request: chat not found"),
		sendtest.Blocked:          Refuses(http.StatusForbidden, "Forbidden: bot was blocked by the user"),
		sendtest.Broken:           Refuses(http.StatusBadGateway, "Bad Gateway"),
		sendtest.Rejected: func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			Refuses(http.StatusBadRequest, "Bad Request: "+sendtest.Repeated(r, body))(w, r)
		},
	}
}

// Refuses returns a handler that refuses every request. parameters are names and values for the answer's
// parameters.
func Refuses(status int, description string, parameters ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		answer := map[string]any{"ok": false, "error_code": status, "description": description}
		if len(parameters) > 0 {
			answer["parameters"] = document.O(parameters...)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}
}
