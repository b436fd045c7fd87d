package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// Who says something.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// message is what one of them says.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// toolCall is a tool that the model wants to use.
type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// function is the name of a tool, with JSON that the model made up.
type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// completion is a request for what is said next.
type completion struct {
	Model     string    `json:"model"`
	Messages  []message `json:"messages"`
	Tools     []offer   `json:"tools,omitempty"`
	MaxTokens int       `json:"max_tokens"`
}

// ask asks the model what it says next, and offers it tools. Its answer has a text, or at most maxCalls
// tools where it was offered any.
//
// ResourceExhausted: it takes no more for now. Unavailable: it did not answer, or not in a way that
// can be read. FailedPrecondition: the settings are wrong. Canceled: the time is over.
func (a *Assistant) ask(ctx context.Context, bot *botctx.Context, messages []message, tools []offer) (message, error) {
	body, err := json.Marshal(completion{Model: a.Model, Messages: messages, Tools: tools, MaxTokens: maxAnswer})
	if err != nil {
		return message{}, err
	}
	response, err := bot.Fetch(ctx, outbound.Request{
		URL:    strings.TrimSuffix(a.URL, "/") + "/chat/completions",
		Method: http.MethodPost,
		Headers: map[string]string{
			"Content-Type":  "application/json",
			"Authorization": "Bearer " + a.Key.Reveal(),
		},
		Body: body,
	})
	if err != nil {
		return message{}, err
	}
	if !response.OK() {
		return message{}, refusal(response.Status)
	}
	said, err := read(response.Body)
	if err == nil && len(said.ToolCalls) > 0 && len(tools) == 0 {
		err = boterr.New(boterr.Unavailable, "", "the model wants a tool that it was not offered")
	}
	return said, err
}

// refusal returns the error for a status. What the server says of it is not repeated: it may be what
// it was sent.
func refusal(status int) error {
	switch {
	case status == http.StatusTooManyRequests:
		return boterr.New(boterr.ResourceExhausted, "", "the model takes no more for now")
	case status >= http.StatusInternalServerError:
		return boterr.New(boterr.Unavailable, "", "the model failed with status %d", status)
	default:
		return boterr.New(boterr.FailedPrecondition, "", "the model refused with status %d: check its address, its name and the key", status)
	}
}

// read returns what the model says. It has a text or tools, and is Unavailable otherwise.
func read(body []byte) (message, error) {
	var answer struct {
		Choices []struct {
			Message struct {
				Content   *string    `json:"content"` // null beside tools.
				ToolCalls []toolCall `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Choices) == 0 {
		return message{}, boterr.New(boterr.Unavailable, "", "the model's answer of %d bytes cannot be read", len(body))
	}
	given := answer.Choices[0].Message
	said := message{Role: roleAssistant, ToolCalls: given.ToolCalls}
	if given.Content != nil {
		said.Content = strings.TrimSpace(*given.Content)
	}
	switch {
	case len(said.ToolCalls) > maxCalls:
		return message{}, boterr.New(boterr.Unavailable, "", "the model wants %d tools at once", len(said.ToolCalls))
	case len(said.ToolCalls) == 0 && said.Content == "":
		return message{}, boterr.New(boterr.Unavailable, "", "the model says nothing")
	default:
		return said, nil
	}
}

// apology is what a member is told of an error.
func apology(err error) string {
	if errors.Is(err, boterr.ResourceExhausted) {
		return textBusy
	}
	return textSorry
}
