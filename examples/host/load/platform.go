package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/channel"
)

// platform hands what members write to a host.
type platform struct {
	client http.Client
	// address is where the host listens now.
	address func() string
	secret  channel.Secret
	opened  atomic.Int64
}

func newPlatform(address func() string, secret channel.Secret, senders int) *platform {
	p := &platform{address: address, secret: secret}
	p.client = http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: senders,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			p.opened.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
	return p
}

// message is what a member writes.
type message struct{ channel, id, from, text string }

// post hands a message over, and returns the status of the answer.
func (p *platform) post(ctx context.Context, m message) (status string, err error) {
	body := fmt.Appendf(nil, `{"app":"bistro","channel":%q,"profile":{"firstName":"Ada"},`+
		`"messageEvent":{"type":"TEXT","from":%q,"data":{"text":%q}}}`, m.channel, m.from, m.text)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address()+"/inbound", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if err := webhook.Sign(request.Header, m.id, time.Now(), body, p.secret); err != nil {
		return "", err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.Status, errors.Join(err, response.Body.Close())
}
