// Command load lets members write to the host's demo channel without a pause, and tells how it answered.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/channel"
)

func main() {
	senders := flag.Int("senders", 32, "how many send at once")
	duration := flag.Duration("for", time.Minute, "how long they send")
	flag.Parse()
	if err := run(*senders, *duration); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run sends for so long, and prints the answers by their status, how long they took, and how
// many connections were opened.
func run(senders int, duration time.Duration) error {
	l := load{
		url:    "http://" + cmp.Or(os.Getenv("HOST_LISTEN"), "127.0.0.1:8080") + "/inbound",
		secret: channel.NewSecret(os.Getenv("HOST_DEMO_SECRET")), answers: map[string]int{},
	}
	l.client = http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: senders,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			l.opened.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
	ctx, cancel := context.WithTimeout(context.Background(), duration)
	defer cancel()
	var group sync.WaitGroup
	for sender := range senders {
		group.Go(func() { l.send(ctx, sender) })
	}
	group.Wait()
	if len(l.took) == 0 {
		return errors.New("nothing was sent")
	}
	slices.Sort(l.took)
	for status, count := range l.answers {
		fmt.Printf("%7d %s\n", count, status)
	}
	fmt.Printf("half within %v, 99 of 100 within %v, all within %v; %d connections opened by %d senders\n",
		l.took[len(l.took)/2], l.took[len(l.took)*99/100], l.took[len(l.took)-1], l.opened.Load(), senders)
	return nil
}

// load is what all senders share.
type load struct {
	client http.Client
	url    string
	secret channel.Secret
	opened atomic.Int64

	mutex   sync.Mutex
	answers map[string]int
	took    []time.Duration
}

// lines are what a member says, one after the other.
var lines = []string{"hello", "a table for 4 at 19:30", "yes"}

// send sends messages of ten members in turn until ctx ends.
func (l *load) send(ctx context.Context, sender int) {
	for i := 0; ctx.Err() == nil; i++ {
		from := fmt.Sprintf("member%d-%d", sender, i/len(lines)%10)
		body := fmt.Appendf(nil, `{"app":"bistro","channel":"demo","profile":{"firstName":"Ada"},`+
			`"messageEvent":{"type":"TEXT","from":%q,"data":{"text":%q}}}`, from, lines[i%len(lines)])
		began := time.Now()
		status, err := l.post(context.WithoutCancel(ctx), fmt.Sprintf("load_%d_%d_%d", os.Getpid(), sender, i), began, body)
		if err != nil {
			status = err.Error()
		}
		l.note(status, time.Since(began))
	}
}

// post sends one message of an id, and returns the status of the answer. One that is under way
// at the end is waited for.
func (l *load) post(ctx context.Context, id string, at time.Time, body []byte) (status string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if err := webhook.Sign(request.Header, id, at, body, l.secret); err != nil {
		return "", err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.Status, errors.Join(err, response.Body.Close())
}

// note counts an answer.
func (l *load) note(answer string, took time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.answers[answer]++
	l.took = append(l.took, took)
}
