package send

import (
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// fieldThread is the thread of a message on platforms that have the feature Threads: in the data of an event the one
// in which it was written, in a response the one in which it is shown.
const fieldThread = "thread_ts"

// Thread is a thread of a conversation on a platform.
type Thread struct {
	// Conversation is the platform's id of the conversation, "" if the member is alone with the bot.
	Conversation string
	// ID is the platform's id of the thread, "" if there is none.
	ID string
}

// ThreadOf returns the thread in which an event was written. Platforms without threads have none.
func ThreadOf(platform channel.Type, event *MessageEvent) Thread {
	if event == nil || !platform.Has(channel.Threads) {
		return Thread{}
	}
	thread := Thread{ID: document.Get(event.Data, fieldThread, "")}
	// Conversations of several have ids that begin with one of these letters.
	if thread.ID != "" && (strings.HasPrefix(event.To, "C") || strings.HasPrefix(event.To, "G")) {
		thread.Conversation = event.To
	}
	return thread
}

// WithoutThread returns the data of an event without its thread, for a message that goes to another conversation.
func WithoutThread(data document.Object) document.Object { return data.Without(fieldThread) }

// in returns a message to the scope's own member as it answers what was written in a thread.
func (m Message) in(thread Thread) Message {
	if thread.ID == "" || m.Response.Object().Has(fieldThread) {
		return m
	}
	if thread.Conversation != "" {
		m.To, m.Member = thread.Conversation, nil
	}
	m.Response = m.Response.With(fieldThread, thread.ID)
	return m
}
