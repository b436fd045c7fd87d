package charlie

import (
	"sync"

	"github.com/slack-go/slack"
)

// clients keeps a client of the library for each token, of a bounded number of tokens.
type clients struct {
	config Config

	mu   sync.Mutex
	kept map[string]*slack.Client
	// oldest are the tokens in the order in which they came.
	oldest []string
}

func newClients(config Config) *clients {
	return &clients{config: config, kept: map[string]*slack.Client{}}
}

// of returns the client of a token.
func (c *clients) of(token string) *slack.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if api, ok := c.kept[token]; ok {
		return api
	}
	if len(c.oldest) == c.config.MaxClients {
		delete(c.kept, c.oldest[0])
		c.oldest = c.oldest[1:]
	}
	api := slack.New(token, slack.OptionAPIURL(c.config.APIURL), slack.OptionHTTPClient(recorder{c.config.HTTPClient, c.config.Now}))
	c.kept[token] = api
	c.oldest = append(c.oldest, token)
	return api
}
