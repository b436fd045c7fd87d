package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/conversation/conversationtest"
	"github.com/botctx/go-sdk/fakes/fakestest"
	"github.com/botctx/go-sdk/member"
)

var _ = flag.Bool("update", false, "write the files that tests compare with")

// aStage returns a stage on the concierge's own city, with nobody or with a guest of an id.
func aStage(t *testing.T) *conversation.Stage {
	t.Helper()
	return conversation.NewStage(aCity(t))
}

func TestConversations(t *testing.T) {
	t.Parallel()
	conversationtest.Run(t, "*.chat", aStage)
	conversationtest.Run(t, "testdata/*.chat", aStage)
}

// What the demonstration leaves behind: what was sent, who booked, and which seats are left.
func TestDemonstration_Effects(t *testing.T) {
	t.Parallel()
	stage := aStage(t)
	written, err := conversation.Parse("demonstration.chat", demonstration)
	require.NoError(t, err)
	_, err = stage.Play(written)
	require.NoError(t, err)
	fakestest.Golden(t, stage.Platform(), "testdata/demonstration.golden")
}

// asConversation returns a recorded conversation as one that a stage plays. The meaning of what is said goes
// with each message.
func asConversation(dialogue Dialogue, guest string) conversation.Conversation {
	var c conversation.Conversation
	for i, turn := range dialogue.Turns {
		if turn.Speaker == speakerUser {
			event := Message(dialogue, i)
			event.From = ""
			c.Steps = append(c.Steps, conversation.Step{Act: conversation.Sends{By: guest, Event: event}})
			continue
		}
		last := &c.Steps[len(c.Steps)-1]
		last.Answers = append(last.Answers, conversation.Answer{To: guest, Message: conversation.Message{Text: turn.Utterance}})
	}
	return c
}

// Each recorded conversation is a file that reads as it was written, and goes as it was recorded.
func TestReplay_AsConversations(t *testing.T) {
	t.Parallel()
	data := readRecorded(t)
	p := fakes.New(fakes.For(t))
	require.NoError(t, SaveRows(t.Context(), p.Operations(botctx.Scope{}), data.dialogues))
	p.HandleFunc(NewReplay(data.dialogues).Answer)
	for _, dialogue := range data.dialogues[:32] { // TestReplay_SavesAnswers replays all.
		fork := p.Fork()
		stage := conversation.NewStage(fork)
		written := asConversation(dialogue, stage.Admit(fork.AddMember(member.Member{ExternalID: dialogue.ID})))
		read, err := conversation.Parse(dialogue.ID, written.String())
		require.NoError(t, err)
		require.Equal(t, written.String(), read.String())
		played, err := stage.Play(read)
		require.NoError(t, err)
		require.Empty(t, conversation.Difference(written, played), dialogue.ID)
	}
}
