package outbound_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

// Bot logic fetches a JSON API. The test answers in its place.
func ExampleFetch() {
	var site web.Replies
	site.Add("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"now": {"celsius": -3, "sky": "clear"}}`))

	response, err := outbound.Fetch(context.Background(), &site, outbound.Request{
		URL:     "https://api.example.com/weather?city=Oslo",
		Headers: map[string]string{"Accept": "application/json"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.OK(), response.Get("now.celsius").Int(), response.Get("now.sky"))
	// Output: true -3 clear
}

// Addresses that scripts must not reach are refused before anything is sent.
func ExampleClient() {
	client, err := outbound.New(outbound.Config{Allow: []string{"files.internal"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = outbound.Fetch(context.Background(), client, outbound.Request{URL: "http://169.254.169.254/latest/meta-data"})
	fmt.Println(err)
	_, err = outbound.Fetch(context.Background(), client, outbound.Request{URL: "http://0x7f.1/?token=1234"})
	fmt.Println(err)
	// Output:
	// invalid argument: url: the host 169.254.169.254 is a link-local address; use a public one, or have the host application allow it
	// invalid argument: url: a host that ends in a number must be an IPv4 address of four decimal numbers without leading zeros
}
