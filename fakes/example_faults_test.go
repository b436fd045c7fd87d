package fakes_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
)

// What a test can make fail, in the order of the documentation: calls of operations, an answer
// of the web, and a service until it is connected again.
func Example_faults() {
	ctx := context.Background()
	p := fakes.New()
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	orders := func() error {
		_, err := bot.CountDataSource(ctx, datasource.CountDataSourceParams{DataSourceID: "orders"})
		return err
	}

	p.FailNext(botctx.OpCountDataSource, boterr.Conflict)
	p.FailNext(botctx.OpCountDataSource, boterr.Conflict)
	p.DelayNth(botctx.OpCountDataSource, 3, time.Minute)
	p.TimeOutNth(botctx.OpCountDataSource, 4)
	for range 5 {
		fmt.Println(boterr.CodeOf(orders()), p.Now().Format(time.TimeOnly))
	}

	p.DisconnectDataSource("orders")
	fmt.Println(orders())
	fmt.Println(orders())
	p.ReconnectDataSource("orders")
	fmt.Println(orders())

	p.ReplyHTTP("GET", "https://api.example.com/", web.Fail(boterr.Unavailable), web.Text(200, "ready"))
	for range 2 {
		_, err := bot.Fetch(ctx, outbound.Request{URL: "https://api.example.com/"})
		fmt.Println(err)
	}
	// Output:
	// conflict 00:00:00
	// conflict 00:00:00
	//  00:01:00
	// unavailable 00:01:00
	//  00:01:00
	// countDataSource: unavailable: the test has disconnected the data source orders
	// countDataSource: unavailable: the test has disconnected the data source orders
	// <nil>
	// fetch: unavailable: the exchange with api.example.com failed: unavailable
	// <nil>
}

func ExampleConfig_logger() {
	onlyMessages := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key != slog.LevelKey && a.Key != slog.MessageKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: onlyMessages}))
	p := fakes.New(fakes.Config(func(c *botctx.Config) { c.Logger = logger }))
	p.HandleFunc(func(context.Context, *botctx.Context) error { panic("no more tea") })

	_ = p.AddMember(member.Member{FirstName: "Ada"}).TrySays("hi")
	// Output:
	// level=ERROR msg="botctx: panic"
}
