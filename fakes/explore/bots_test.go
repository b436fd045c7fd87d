package explore_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// outer is the test around a search, which notes how it ends.
type outer struct {
	mu     sync.Mutex
	failed string
	logged []string
}

func (*outer) Helper() {}

func (*outer) Name() string { return "TestBot/shop" }

func (o *outer) Failed() bool { return o.failed != "" }

func (*outer) Cleanup(func()) {}

func (o *outer) Logf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logged = append(o.logged, fmt.Sprintf(format, args...))
}

func (o *outer) Fatalf(format string, args ...any) {
	o.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// search runs a search that may fail, and returns how it ended.
func search(run func(t fakes.TB)) *outer {
	var o outer
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(&o)
	}()
	<-done
	return &o
}

// stockOf returns how many kettles there are.
func stockOf(p *fakes.Platform) int { return document.Get(p.Data("stock")[0], "left", 0) }

// shop adds so many kettles, and two members.
func shop(p *fakes.Platform, logic botctx.Action, left int) (ada, bob *fakes.Actor) {
	p.AddData("stock", document.O("_id", "kettle", "left", left))
	p.HandleFunc(logic)
	return p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
}

// readAndWrite takes a kettle in two operations, so that two members may take the same.
func readAndWrite(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
		DataSourceID: "stock", Filter: document.O("_id", "kettle"),
	})
	if err != nil {
		return err
	}
	left := document.Get(found.Entries[0], "left", 0)
	if left == 0 {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	_, err = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: "stock", Filter: document.O("_id", "kettle"), Patch: document.Set("left", left-1),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

// modify takes a kettle in one operation.
func modify(ctx context.Context, bot *botctx.Context) error {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: "stock", Filter: document.O("_id", "kettle", "left", document.O("$gt", 0)), Patch: document.Inc("left", -1),
	})
	if err != nil {
		return err
	}
	if taken.Value == nil {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

// confirmed counts what members were confirmed.
func confirmed(p *fakes.Platform) (count int) {
	for _, sent := range p.Sent() {
		if !sent.IsRepeat && strings.HasPrefix(sent.Response.Text(), "Yours") {
			count++
		}
	}
	return count
}
