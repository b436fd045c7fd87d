package fakes_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func ExampleActor_Labels() {
	ctx := context.Background()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})

	_, err := ada.Context().AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{LabelID: "buyers"})

	fmt.Println(ada.Labels(), err)
	// Output:
	// [buyers] <nil>
}

func ExampleActor_Tags() {
	ctx := context.Background()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "account", Type: channel.Echo})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "account"})

	var answer send.EchoSaveMemberTagResult
	for tag := range int64(send.MaxMemberTags + 1) {
		answer, _ = ada.Context().EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{TagID: &tag})
	}

	fmt.Println(len(ada.Tags()) == send.MaxMemberTags, answer.ErrCode)
	// Output:
	// true 45059
}

func ExamplePlatform_Broadcasts() {
	ctx := context.Background()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})
	bot := ada.Context()

	_, err := bot.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{LabelID: "buyers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: send.Text("New kettles!")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = bot.AlphaSendBroadcast(ctx, send.AlphaSendBroadcastParams{
		BroadcastID: send.BroadcastID(strconv.FormatInt(p.StoredMessages("page")[0].ID, 10)), LabelID: "buyers", NotificationType: "REGULAR",
	})

	fmt.Println(len(p.Broadcasts("page")[0].Reached), ada.Last(), err)
	// Output:
	// 1 New kettles! <nil>
}

func ExamplePlatform_LimitSends() {
	p := fakes.New()
	p.HandleFunc(greet)
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})
	p.LimitSends("page", 1, time.Minute)

	fmt.Println(ada.TrySays("one"))
	fmt.Println(boterr.CodeOf(ada.TrySays("two")))
	p.Advance(time.Minute)
	fmt.Println(ada.TrySays("three"))
	// Output:
	// <nil>
	// resource exhausted
	// <nil>
}

func ExamplePlatform_RefuseSends() {
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	lise := p.AddMember(member.Member{FirstName: "Lise"})
	p.RefuseSends(boterr.FailedPrecondition, ada)

	_, err := lise.Context().SendResponse(context.Background(), send.SendResponseParams{
		MemberID: document.OneOrMany[string]{ada.ID(), lise.ID()}, Response: send.Text("Hello!"),
	})

	fmt.Println(boterr.CodeOf(err), len(ada.Messages()), len(lise.Messages()))
	// Output:
	// unavailable 0 1
}
