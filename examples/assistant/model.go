package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// The roles of messages.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// message is one message of the conversation with the model.
type message struct {
	Role string `json:"role"`
	// Content is the text. It is null for tool calls without one: some servers refuse an empty text there.
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	// The reasoning that led to tool calls goes back with them: models that return it refuse calls without
	// it.
	Reasoning        json.RawMessage `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

// completion is a request for the next message.
type completion struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	// Tools are in every request: servers refuse tool calls among the messages if there are no tools.
	Tools []offer `json:"tools"`
	// ToolChoice is choiceNone if the answer must be a text. Empty leaves it to the model.
	ToolChoice string `json:"tool_choice,omitempty"`
	// MaxTokens or MaxCompletionTokens is the limit of tokens. The other one is 0.
	MaxTokens           int `json:"max_tokens,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
}

// choiceNone forbids the use of tools.
const choiceNone = "none"

// The names of the limit of tokens.
const (
	limitTokens           = "max_tokens"
	limitCompletionTokens = "max_completion_tokens"
)

// errFiltered is the error for an answer that the model, or its provider, has filtered.
var errFiltered = errors.New("the answer was filtered")

// ask asks the model for its next message: a text or, unless choice is choiceNone, at most maxCalls tool
// calls.
//
// ResourceExhausted: the model accepts no more requests for now. Unavailable: it did not answer, or its
// answer cannot be read. FailedPrecondition: the settings are wrong. Canceled: the time limit has passed. errFiltered:
// the question or the answer was filtered.
func (a *Assistant) ask(ctx context.Context, bot *botctx.Context, messages []message, choice string) (message, error) {
	request := completion{Model: a.Model, Messages: messages, Tools: offers(), ToolChoice: choice}
	if a.limit() == limitTokens {
		request.MaxTokens = a.maxTokens()
	} else {
		request.MaxCompletionTokens = a.maxTokens()
	}
	body, err := json.Marshal(request)
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
	if failed := response.Get("error"); !response.OK() || isSet(failed) && !response.Get("choices.0").Exists() {
		return message{}, a.refusal(response)
	}
	said, err := a.read(response)
	if err == nil && choice == choiceNone && len(said.ToolCalls) > 0 {
		if said.ToolCalls = nil; said.Content == nil {
			err = boterr.New(boterr.Unavailable, "", "the model requested a tool, although it was told to use none")
		}
	}
	return said, err
}

// refusal returns the error for an unsuccessful response. It does not repeat the text of the response, which
// may contain the request.
func (a *Assistant) refusal(response *outbound.Response) error {
	status, code, kind := response.Status, response.Get("error.code"), response.Get("error.type").String()
	if response.OK() { // Some gateways put the real status into the error.
		if status = int(code.Int()); status < http.StatusBadRequest {
			return boterr.New(boterr.Unavailable, "", "the model answered with an error")
		}
	}
	switch {
	case code.String() == "content_filter":
		return errFiltered
	case code.String() == "tool_use_failed":
		return boterr.New(boterr.Unavailable, "", "the model's server could not read the model's tool call")
	case code.String() == "insufficient_quota", kind == "insufficient_quota", status == http.StatusPaymentRequired:
		return boterr.New(boterr.FailedPrecondition, "", "the account has no credit left (status %d)", status)
	case status == http.StatusTooManyRequests:
		return boterr.New(boterr.ResourceExhausted, "", "the model is limiting the rate of requests")
	case isTemporary(status):
		return boterr.New(boterr.Unavailable, "", "the model failed with status %d", status)
	case bytes.Contains(response.Body, []byte(a.limit())):
		return boterr.New(boterr.FailedPrecondition, "Limit", "is %s, which the model refused with status %d: set Limit to %s, "+
			"or lower MaxTokens", a.limit(), status, a.otherLimit())
	default:
		return boterr.New(boterr.FailedPrecondition, "", "the model refused with status %d: check its address, its name and the key", status)
	}
}

// isTemporary reports whether a request that failed with a status may succeed later.
func isTemporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return true
	default:
		return status >= http.StatusInternalServerError
	}
}

// apology is the message to a member about an error.
func apology(err error) string {
	switch {
	case errors.Is(err, errFiltered):
		return textRefused
	case errors.Is(err, boterr.ResourceExhausted):
		return textBusy
	default:
		return textSorry
	}
}
