package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// answer is what the bot said to a message: its number, and the id under which it was said.
type answer struct {
	number int
	id     string
}

// chat is the other end of the channel, and notes what the bot says.
type chat struct {
	secret channel.Secret
	server *http.Server
	url    string

	mutex sync.Mutex
	// heard are the answers to each member, in the order in which they came.
	heard map[string][]answer
	count int
}

// startChat starts a chat on a free port.
func startChat(ctx context.Context, secret channel.Secret) (*chat, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &chat{secret: secret, url: "http://" + listener.Addr().String(), heard: map[string][]answer{}}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	go func() { _ = c.server.Serve(listener) }()
	return c, nil
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = webhook.Verify(r.Header, body, time.Now(), time.Minute, c.secret)
	}
	if err == nil {
		err = c.hear(r.Header.Get(webhook.HeaderID), body)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// hear notes what the bot says.
func (c *chat) hear(id string, body []byte) error {
	value, err := document.ParseJSON(body)
	if err != nil {
		return err
	}
	said, _ := value.(document.Object)
	number, err := numberOf(document.Get(said, "response.text", ""))
	if err != nil {
		return err
	}
	to := document.Get(said, "to", "")
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.heard[to] = append(c.heard[to], answer{number: number, id: id})
	c.count++
	return nil
}

// all returns how much was heard.
func (c *chat) all() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.count
}

// wishFor returns a text with a number in it, which the bot repeats in its answer.
func wishFor(number int) string {
	return fmt.Sprintf("a table for %d at %02d:%02d", 1+number/10_000, number/100%100, number%100)
}

// mostWishes is how many numbers there are.
const mostWishes = 99 * 10_000

var holds = regexp.MustCompile(`^I hold a table for (\d+) at (\d\d):(\d\d)\.`)

// numberOf returns the number of the wish that an answer repeats.
func numberOf(text string) (int, error) {
	found := holds.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%q answers no wish", text)
	}
	people, _ := strconv.Atoi(found[1])
	hundreds, _ := strconv.Atoi(found[2])
	rest, _ := strconv.Atoi(found[3])
	return (people-1)*10_000 + hundreds*100 + rest, nil
}
