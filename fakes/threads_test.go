package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestThreads_AnsweredInThem(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
	ada, bob := p.AddMember(member.Member{Channel: "desk"}), p.AddMember(member.Member{Channel: "desk"})
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if err := bot.Reply(ctx, send.Text("here"), send.Text("there").With("thread_ts", "2.2")); err != nil {
			return err
		}
		_, err := bot.SendResponse(ctx, send.SendResponseParams{MemberID: []string{bob.ID()}, Response: send.Text("to Bob")})
		return err
	})
	ada.Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi", "thread_ts", "1.1")})
	ada.InGroup("C000001").Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi", "thread_ts", "1.1")})
	ada.Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi")})
	require.Equal(t, []string{"here 1.1", "there 2.2", "here ", "there 2.2"}, inThreads(ada.Messages()))
	require.Equal(t, []string{"here 1.1", "there 2.2"}, inThreads(ada.InGroup("C000001").Messages()))
	require.Equal(t, []string{"to Bob ", "to Bob ", "to Bob "}, inThreads(bob.Messages()), "another member is in no thread")
}

// inThreads returns the texts of messages with their threads.
func inThreads(messages []send.Response) []string {
	shown := make([]string, len(messages))
	for i, message := range messages {
		shown[i] = message.Text() + " " + document.Get(message, "thread_ts", "")
	}
	return shown
}
