package conversation_test

import (
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/send"
)

func ExampleSession_Play() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "greet", Trigger: botctx.TextIs("hi"), Responses: []send.Response{send.Template("Hello {{firstName}}!")}})
	written, err := conversation.Parse("greeting.chat", "Ada: hi\nBot: Good morning, Ada!")
	if err != nil {
		fmt.Println(err)
		return
	}
	played, err := conversation.NewSession(p).Play(written)
	fmt.Print(conversation.Difference(written, played), err)
	// Output:
	// @@ -1,2 +1,2 @@
	//  Ada: hi
	// -Bot: Good morning, Ada!
	// +Bot: Hello Ada!
	// <nil>
}

func ExampleSession_Do() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "greet", Trigger: botctx.TextIs("hi"), Responses: []send.Response{send.Template("Hello {{firstName}}!")}})
	stage := conversation.NewSession(p)
	for _, act := range []conversation.Act{conversation.AddMember{Name: "Ada"}, conversation.Says{By: "Ada", Text: "hi"}} {
		if _, err := stage.Do(act); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Print(stage.Conversation()) // GoTest writes it as a Go test.
	// Output:
	// member Ada
	//
	// Ada: hi
	// Bot: Hello Ada!
}
