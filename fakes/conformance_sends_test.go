package fakes_test

import (
	"context"
	"crypto/rand"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// withDeliveries gives a harness of a platform the verbs for sends and utilities. Its members
// are those of a platform that may be another one.
func withDeliveries(h *botctxtest.Harness, p, members *fakes.Platform) *botctxtest.Harness {
	actors := map[string]*fakes.Actor{}
	h.AddMember = func(m member.Member) *member.Member {
		actor := members.AddMember(m)
		actors[actor.ID()] = actor
		return actor.Member()
	}
	h.Refuse = func(refused *member.Member) { p.RefuseSends(boterr.FailedPrecondition, actors[refused.ID]) }
	h.Comments = func(app string) []*send.PostComment {
		sends := send.New(p.Runtime().Env(), record.Scope{App: app}, send.Ports{})
		found, err := sends.FindPostComments(context.Background(), record.Query{})
		mustDo(err)
		return found
	}
	h.Mails = func() []botctx.Mail {
		var mails []botctx.Mail
		for _, sent := range p.Mails() {
			mails = append(mails, sent.Mail)
		}
		return mails
	}
	h.Serve = func(content []byte) *botctxtest.Served { return serve(p.HTTP, string(content)) }
	h.Files = func() []botctxtest.File {
		var files []botctxtest.File
		for _, f := range p.Files() {
			files = append(files, botctxtest.File{
				App: f.App, Channel: f.Channel, Name: f.Name, ContentType: f.ContentType, Content: f.Content,
			})
		}
		return files
	}
	h.AddAccount = func(app, name string) { p.AddAccountOf(app, name) }
	return h
}

// serve puts a file at an address of a web.
func serve(web *replies.Replies, content string) *botctxtest.Served {
	url := "https://files.example.com/" + rand.Text()
	for _, method := range []string{"GET", "POST"} {
		web.Add(method, url, replies.Reply{Body: content})
	}
	return &botctxtest.Served{URL: url, Requests: func() []botctxtest.Request {
		var asked []botctxtest.Request
		for _, request := range web.Requests() {
			if request.URL == url {
				asked = append(asked, botctxtest.Request{Method: request.Method, Header: request.Header, Body: request.Body})
			}
		}
		return asked
	}}
}
