package channel_test

import (
	"encoding/json"
	"fmt"

	"github.com/botctx/go-sdk/channel"
)

func Example() {
	page := channel.Channel{
		ID:   "page",
		Type: channel.Alpha,
		Info: channel.AlphaInfo{PageID: "p1", AccessToken: channel.NewSecret("token")},
	}
	text, err := json.Marshal(page)
	fmt.Println(string(text), err)
	fmt.Println(page.RequireType(channel.Bravo))
	// Output:
	// {"_id":"page","info":{"accessToken":"[redacted]","pageId":"p1"},"on":false,"type":"alpha"} <nil>
	// unsupported: the channel page is of type "alpha"; this operation supports only channels of type bravo
}
