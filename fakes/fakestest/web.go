package fakestest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"

	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
)

// addChannel gives custom channels a live-chat API.
func (s *stage) addChannel(added channel.Channel) *channel.Channel {
	if !added.Type.Has(channel.LiveChatAPI) {
		return s.keep(s.platform.AddChannel(added))
	}
	url := "https://live.example/" + rand.Text()
	s.platform.HTTP.Add(http.MethodPost, url, web.Reply{Body: `{"groupId": "group-` + rand.Text() + `"}`})
	added.Metadata.Set("liveChatApi", url)
	stored := s.keep(s.platform.AddChannel(added))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.apis[url] = stored.ID
	return stored
}

// keep remembers that a channel was added, and returns it.
func (s *stage) keep(added *channel.Channel) *channel.Channel {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.added = append(s.added, added.ID)
	return added
}

// asked returns what the live-chat APIs were asked.
func (s *stage) asked() []botctxtest.Asked {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []botctxtest.Asked
	for _, request := range s.platform.HTTP.Requests() {
		if id, isAPI := s.apis[request.URL]; isAPI {
			all = append(all, botctxtest.Asked{Channel: id, Body: bodyOf(request)})
		}
	}
	return all
}

// bodyOf returns the JSON that a request sent.
func bodyOf(request web.Request) document.Object {
	var body document.Object
	must(json.Unmarshal([]byte(request.Body), &body))
	return body
}

// serve puts a file at an address of the web.
func (s *stage) serve(contentType, content string) *botctxtest.Served {
	url := "https://files.example.com/" + rand.Text()
	file := web.Reply{Body: content}
	if contentType != "" {
		file.Header = http.Header{"Content-Type": {contentType}}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		s.platform.HTTP.Add(method, url, file)
	}
	return &botctxtest.Served{URL: url, Requests: func() []botctxtest.Request {
		var asked []botctxtest.Request
		for _, request := range s.platform.HTTP.Requests() {
			if request.URL == url {
				asked = append(asked, botctxtest.Request{Method: request.Method, Header: request.Header, Body: request.Body})
			}
		}
		return asked
	}}
}
