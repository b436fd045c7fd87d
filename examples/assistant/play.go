package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
)

// modelURL is the address of the model of scripted replies.
const modelURL = "https://models.example/v1"

// scripted returns the settings for a model with scripted replies.
func scripted(log io.Writer) Settings {
	return Settings{
		URL: modelURL, Model: "small", Key: channel.NewSecret("key-0123456789"), Timeout: 30 * time.Second,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// says is a reply of the model with a text.
func says(text string) web.Reply {
	return web.JSON(200, `{"choices": [{"message": {"role": "assistant", "content": `+quoted(text)+`}}]}`)
}

// wants is a reply of the model that calls a tool.
func wants(tool, arguments string) web.Reply {
	call := `{"id": "call-1", "type": "function", "function": {"name": ` + quoted(tool) + `, "arguments": ` + quoted(arguments) + `}}`
	return web.JSON(200, `{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [`+call+`]}}]}`)
}

func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		return `""` // Strings never fail.
	}
	return string(encoded)
}

func play() (string, error) {
	p := fakes.New()
	ada := open(p, scripted(io.Discard))
	var lines strings.Builder
	for _, turn := range []struct {
		asked   string
		replies []web.Reply
	}{
		{"Which tea wakes me up?", []web.Reply{says("Assam does: it is strong, and goes well with milk.")}},
		{"And what did I order?", []web.Reply{
			wants("my_orders", `{"status": "open"}`), says("100 grams of Sencha are on their way to you soon."),
		}},
		{"What did Bob order?", []web.Reply{
			wants("my_orders", `{"member": "member-2"}`), says("I can only tell you of your own orders."),
		}},
	} {
		p.ReplyHTTP("POST", modelURL+"/chat/completions", turn.replies[0], turn.replies[1:]...)
		ada.Says(turn.asked)
		lines.WriteString("Ada: " + turn.asked + "\nBot: " + ada.Last() + "\n")
	}
	return lines.String(), nil
}
