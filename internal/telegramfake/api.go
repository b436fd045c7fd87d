package telegramfake

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/document"
)

// Limits of the Bot API.
const (
	maxText    = 4096
	maxCaption = 1024
	maxData    = 64
)

// problem is an answer that refuses a request.
type problem struct {
	status      int
	description string
	parameters  document.Object
}

func bad(description string) *problem {
	return &problem{status: http.StatusBadRequest, description: "Bad Request: " + description}
}

// ServeHTTP implements http.Handler for the paths /bot<token>/<method> and /file/bot<token>/<path>.
func (t *Telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if file, isFile := strings.CutPrefix(r.URL.Path, "/file/bot"); isFile {
		t.serveFile(w, file)
		return
	}
	token, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	params, files, err := paramsOf(r)
	if err != nil {
		write(w, http.StatusBadRequest, document.O("ok", false, "error_code", http.StatusBadRequest, "description", "Bad Request: "+err.Error()))
		return
	}
	t.mu.Lock()
	t.calls = append(t.calls, method)
	of := t.bots[token]
	t.mu.Unlock()
	var result any
	refused := &problem{status: http.StatusUnauthorized, description: "Unauthorized"}
	switch {
	case of == nil:
	case method == "getUpdates":
		result, refused = t.updates(r, of, params)
	default:
		t.mu.Lock()
		result, refused = t.answer(of, token, method, params, files)
		t.mu.Unlock()
	}
	status, answer := http.StatusOK, document.O("ok", true, "result", result)
	if refused != nil {
		status = refused.status
		answer = document.O("ok", false, "error_code", status, "description", refused.description)
		if !refused.parameters.IsZero() {
			answer = answer.With("parameters", refused.parameters)
		}
	}
	if t.Check != nil && of != nil {
		t.Check(Exchange{Method: method, Params: params, Files: files, Status: status, Answer: answer})
	}
	write(w, status, answer)
}

func write(w http.ResponseWriter, status int, answer document.Object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer.String())
}

// paramsOf parses the parameters of a request. files has the media types of uploaded files.
func paramsOf(r *http.Request) (params document.Object, files map[string]string, err error) {
	params, files = document.O(), map[string]string{}
	kind, options, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return params, nil, err
	}
	if kind == "multipart/form-data" {
		parts := multipart.NewReader(r.Body, options["boundary"])
		for part, err := parts.NextPart(); err == nil; part, err = parts.NextPart() {
			content, _ := io.ReadAll(part)
			if part.FileName() != "" {
				files[part.FormName()] = part.Header.Get("Content-Type")
				continue
			}
			params = params.With(part.FormName(), string(content))
		}
		return params, files, nil
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &params)
	}
	return params, files, err
}

func (t *Telegram) serveFile(w http.ResponseWriter, at string) {
	token, id, _ := strings.Cut(at, "/files/")
	t.mu.Lock()
	defer t.mu.Unlock()
	content, isKnown := t.files[id]
	if t.bots[token] == nil || !isKnown {
		write(w, http.StatusNotFound, document.O("ok", false, "error_code", http.StatusNotFound, "description", "Not Found"))
		return
	}
	_, _ = io.WriteString(w, content)
}

// updates answers getUpdates. If there are no updates, it waits until one arrives, the time limit has passed,
// or another request arrives.
func (t *Telegram) updates(r *http.Request, of *bot, params document.Object) (any, *problem) {
	offset, limit := document.Get(params, "offset", int64(0)), int(document.Get(params, "limit", int64(100)))
	t.mu.Lock()
	if of.waiting != nil {
		close(of.waiting)
	}
	waiting := make(chan struct{})
	of.waiting, of.offset = waiting, max(of.offset, offset)
	t.mu.Unlock()
	over := time.NewTimer(time.Duration(document.Get(params, "timeout", int64(0))) * time.Second)
	defer over.Stop()
	for {
		t.mu.Lock()
		for len(of.updates) > 0 && document.Get(of.updates[0], "update_id", int64(0)) < offset {
			of.updates = of.updates[1:]
		}
		given := document.A()
		for _, update := range of.updates[:min(limit, len(of.updates))] {
			given = given.Append(update)
		}
		news, webhook := of.news, of.webhook
		t.mu.Unlock()
		if webhook != "" {
			return nil, &problem{
				status:      http.StatusConflict,
				description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
			}
		}
		if given.Len() > 0 {
			return given, nil
		}
		select {
		case <-news:
		case <-over.C:
			return given, nil
		case <-r.Context().Done():
			return given, nil
		case <-waiting:
			return nil, &problem{
				status:      http.StatusConflict,
				description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
			}
		}
	}
}

// answer carries out a method. Callers must hold the mutex.
func (t *Telegram) answer(of *bot, token, method string, params document.Object, files map[string]string) (any, *problem) {
	switch method {
	case "setWebhook":
		of.webhook, of.secret = document.Get(params, "url", ""), document.Get(params, "secret_token", "")
		return true, nil
	case "answerCallbackQuery":
		of.answered = append(of.answered, document.Get(params, "callback_query_id", ""))
		return true, nil
	case "getFile":
		id := document.Get(params, "file_id", "")
		if _, isKnown := t.files[id]; !isKnown {
			return nil, bad("wrong file_id or the file is temporarily unavailable")
		}
		return document.O("file_id", id, "file_unique_id", id, "file_path", "files/"+id), nil
	}
	in, refused := t.chatOf(params)
	if refused != nil {
		return nil, refused
	}
	switch method {
	case "sendChatAction":
		in.isTyping = true
		return true, nil
	case "editMessageText", "editMessageCaption", "editMessageReplyMarkup", "deleteMessage":
		return t.change(in, token, method, params)
	case "createForumTopic", "closeForumTopic":
		return t.changeTopic(in, method, params)
	case "exportChatInviteLink":
		in.links++
		in.link = fmt.Sprintf("https://t.me/+%d-%d", in.id, in.links)
		return in.link, nil
	case "setChatPhoto":
		if !strings.HasPrefix(files["photo"], "image/") {
			return nil, bad("PHOTO_INVALID_DIMENSIONS")
		}
		return true, nil
	default:
		return t.send(of, token, in, method, params)
	}
}

// chatOf returns the chat in a request's parameters. Callers must hold the mutex.
func (t *Telegram) chatOf(params document.Object) (*chat, *problem) {
	id, _ := params.Field("chat_id")
	in := t.chats[fmt.Sprint(id)]
	switch {
	case in == nil:
		return nil, bad("chat not found")
	case in.movedTo != 0:
		moved := bad("group chat was upgraded to a supergroup chat")
		moved.parameters = document.O("migrate_to_chat_id", in.movedTo)
		return nil, moved
	case in.isBlocked:
		return nil, &problem{status: http.StatusForbidden, description: "Forbidden: bot was blocked by the user"}
	default:
		return in, nil
	}
}

func (t *Telegram) changeTopic(in *chat, method string, params document.Object) (any, *problem) {
	if in.topics == nil {
		return nil, bad("the chat is not a forum")
	}
	if method == "createForumTopic" {
		id, name := t.next(), document.Get(params, "name", "")
		if length := utf8.RuneCountInString(name); length == 0 || length > 128 {
			return nil, bad("TOPIC_TITLE_INVALID")
		}
		in.topics[id] = topic{name: name}
		return document.O("message_thread_id", id, "name", name, "icon_color", 7322096), nil
	}
	id := document.Get(params, "message_thread_id", int64(0))
	switch known, isKnown := in.topics[id]; {
	case !isKnown:
		return nil, bad("TOPIC_ID_INVALID")
	case known.isClosed:
		return nil, bad("TOPIC_NOT_MODIFIED")
	default:
		in.topics[id] = topic{known.name, true}
		return true, nil
	}
}

// contents maps each field for a message's content to a function that returns the field's object in answers. id
// is the id of the file.
var contents = map[string]func(id string) document.Object{
	"photo": func(id string) document.Object { return file(id).With("width", 90).With("height", 60) },
	"audio": func(id string) document.Object { return file(id).With("duration", 7) },
	"voice": func(id string) document.Object { return file(id).With("duration", 7) },
	"video": func(id string) document.Object {
		return file(id).With("width", 90).With("height", 60).With("duration", 7)
	},
	"animation": func(id string) document.Object {
		return file(id).With("width", 90).With("height", 60).With("duration", 7)
	},
	"video_note": func(id string) document.Object { return file(id).With("length", 90).With("duration", 7) },
	"document":   file,
	"sticker": func(id string) document.Object {
		return file(id).With("type", "regular").With("width", 90).With("height", 60).With("is_animated", false).With("is_video", false)
	},
}

func file(id string) document.Object { return document.O("file_id", id, "file_unique_id", "u"+id) }

// send sends a message. Callers must hold the mutex.
func (t *Telegram) send(of *bot, token string, in *chat, method string, params document.Object) (any, *problem) {
	if !strings.HasPrefix(method, "send") {
		return nil, &problem{status: http.StatusNotFound, description: "Not Found: method not found"}
	}
	at := strconv.FormatInt(in.id, 10)
	if id := document.Get(params, "message_thread_id", int64(0)); id != 0 {
		if _, isKnown := in.topics[id]; !isKnown {
			return nil, bad("message thread not found")
		}
		at += "/" + strconv.FormatInt(id, 10)
	}
	sent := &Message{Channel: of.channel, ID: t.next(), Chat: at, Method: method, Sent: params}
	if refused := sent.show(params); refused != nil {
		return nil, refused
	}
	in.isTyping = false
	t.messages = append(t.messages, sent)
	return t.object(sent, token), nil
}

// show sets the visible content of a message from a request's parameters.
func (m *Message) show(params document.Object) *problem {
	text, most := document.Get(params, "text", ""), maxText
	if m.Method != "sendMessage" {
		text, most = document.Get(params, "caption", ""), maxCaption
	}
	if utf8.RuneCountInString(text) > most {
		return bad("message is too long")
	}
	if m.Method == "sendMessage" && strings.TrimSpace(text) == "" {
		return bad("message text is empty")
	}
	var buttons []Button
	for _, row := range document.Get(params, "reply_markup.inline_keyboard", document.A()).All() {
		row, _ := row.(document.Array)
		for _, button := range row.All() {
			button, _ := button.(document.Object)
			shown := Button{document.Get(button, "text", ""), document.Get(button, "callback_data", ""), document.Get(button, "url", "")}
			if shown.URL == "" && (shown.Data == "" || len(shown.Data) > maxData) {
				return bad("BUTTON_DATA_INVALID")
			}
			if shown.URL != "" && !strings.HasPrefix(shown.URL, "http") {
				return bad("inline keyboard button URL '" + shown.URL + "' is invalid: BUTTON_URL_INVALID")
			}
			buttons = append(buttons, shown)
		}
	}
	m.Text, m.Buttons = text, buttons
	return nil
}

// change changes or deletes a message. Callers must hold the mutex.
func (t *Telegram) change(in *chat, token, method string, params document.Object) (any, *problem) {
	id := document.Get(params, "message_id", int64(0))
	for _, known := range t.messages {
		at, _, _ := strings.Cut(known.Chat, "/")
		if known.ID != id || at != strconv.FormatInt(in.id, 10) || known.IsDeleted {
			continue
		}
		before := t.object(known, token).String()
		switch method {
		case "deleteMessage":
			known.IsDeleted = true
			return true, nil
		case "editMessageReplyMarkup":
			params = params.With("text", known.Text).With("caption", known.Text)
		case "editMessageText":
			if known.Method != "sendMessage" {
				return nil, bad("there is no text in the message to edit")
			}
		}
		if refused := known.show(params); refused != nil {
			return nil, refused
		}
		shown := t.object(known, token)
		if shown.String() == before {
			return nil, bad("message is not modified: specified new message content and reply markup are exactly the same")
		}
		return shown, nil
	}
	if method == "deleteMessage" {
		return nil, bad("message to delete not found")
	}
	return nil, bad("message to edit not found")
}

// object returns a message as answers show it. Callers must hold the mutex.
func (t *Telegram) object(of *Message, token string) document.Object {
	id, _, _ := strings.Cut(token, ":")
	number, _ := strconv.ParseInt(id, 10, 64)
	object := document.O("message_id", of.ID, "date", Date, "chat", t.chat(of.Chat),
		"from", document.O("id", number, "is_bot", true, "first_name", "Bot"))
	if _, topicID, isTopic := strings.Cut(of.Chat, "/"); isTopic {
		thread, _ := strconv.ParseInt(topicID, 10, 64)
		object = object.With("message_thread_id", thread).With("is_topic_message", true)
	}
	if of.Method == "sendMessage" {
		object = object.With("text", of.Text)
	} else if of.Text != "" {
		object = object.With("caption", of.Text)
	}
	for field, value := range of.Sent.All() {
		if answer, isFile := contents[field]; isFile {
			given := answer(fmt.Sprint(value))
			if field == "photo" {
				object = object.With(field, document.A(given))
			} else {
				object = object.With(field, given)
			}
		}
	}
	switch of.Method {
	case "sendLocation":
		object = object.With("location", of.Sent.Without("chat_id").Without("message_thread_id"))
	case "sendContact":
		object = object.With("contact", of.Sent.Without("chat_id").Without("message_thread_id"))
	}
	if len(of.Buttons) > 0 {
		rows := document.A()
		for _, button := range of.Buttons {
			shown := document.O("text", button.Text)
			if button.URL != "" {
				shown = shown.With("url", button.URL)
			} else {
				shown = shown.With("callback_data", button.Data)
			}
			rows = rows.Append(document.A(shown))
		}
		object = object.With("reply_markup", document.O("inline_keyboard", rows))
	}
	return object
}
