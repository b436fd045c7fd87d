package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// The paths of the chat for web pages, of the page on which agents answer, and of the files that they send.
const (
	chatPath  = "/chat/"
	deskPath  = "/desk"
	filesPath = "/files/"
)

// newChat returns the connector of the chats on web pages.
func (s *service) newChat(ctx context.Context, drops *send.Drops) (*webchat.Connector, error) {
	configured := webchat.Config{
		Store: s.store, FindChannel: finder(s.config.channels, channel.Webchat), Now: s.config.now, Drops: drops, Logger: s.log,
		OnTyping: s.desk.OnTyping,
	}
	if s.config.files != "" {
		var err error
		if s.files, err = blob.Open(ctx, s.config.files); err != nil {
			return nil, fmt.Errorf("-files: %w", err)
		}
		configured.Files, configured.URL = s.files, s.url()+chatPath
	}
	return webchat.New(configured)
}

// url returns the public address of the service.
func (s *service) url() string {
	return strings.TrimSuffix(cmp.Or(s.config.url, "http://"+s.listener.Addr().String()), "/")
}

// pairWithDesks pairs the other channels of each app with the app's desks, on which agents answer.
func (s *service) pairWithDesks(ctx context.Context) error {
	inlets := s.config.channels
	for _, one := range s.config.telegramChannels() {
		inlets = append(slices.Clone(inlets), channelSettings{App: one.App, ID: one.ID})
	}
	for _, inlet := range inlets {
		var outlets []string
		for _, outlet := range s.config.channels {
			if outlet.Type == channel.Desk && outlet.App == inlet.App && inlet.Type != channel.Desk {
				outlets = append(outlets, outlet.ID)
			}
		}
		if len(outlets) == 0 {
			continue
		}
		if err := s.runtime.Pair(ctx, inlet.App, inlet.ID, outlets...); err != nil {
			return err
		}
	}
	return nil
}

// addDesk makes the page on which agents answer, if there is a channel for it.
func (s *service) addDesk(ctx context.Context, receivers map[string]http.Handler) error {
	if !has(s.config.channels, channel.Desk) {
		return nil
	}
	if err := desk.EnsureIndexes(ctx, s.store); err != nil {
		return err
	}
	configured := desk.PageConfig{
		Runtime: s.runtime, Agent: s.agent,
		Channels: func(_ context.Context, app string) (all []*channel.Channel, err error) {
			for _, one := range s.config.channels {
				if one.App == app {
					all = append(all, new(one.record()))
				}
			}
			return all, nil
		},
	}
	if s.files != nil {
		configured.Files = s.storeFile
		receivers["GET "+filesPath] = http.HandlerFunc(s.serveFile)
	}
	page, err := s.desk.Handler(configured)
	if err != nil {
		return err
	}
	receivers[deskPath+"/"] = s.signIns.only(isAgent, http.StripPrefix(deskPath, page))
	return s.pairWithDesks(ctx)
}

// agent returns the agent who sends a request. Agents see all apps that have a desk.
func (s *service) agent(r *http.Request) (*desk.Agent, error) {
	person, err := s.signIns.person(r)
	if err != nil || !isAgent(person) {
		return nil, nil //nolint:nilerr,nilnil // No agent is signed in.
	}
	initial, length := utf8.DecodeRuneInString(person)
	a := &desk.Agent{ID: "agent-" + person, Name: string(unicode.ToUpper(initial)) + person[length:]}
	for _, one := range s.config.channels {
		if one.Type == channel.Desk && !slices.Contains(a.Apps, one.App) {
			a.Apps = append(a.Apps, one.App)
		}
	}
	return a, nil
}

// storeFile stores a file of an agent, and returns its address.
func (s *service) storeFile(ctx context.Context, file utility.StoredFile) (string, error) {
	if err := s.files.Put(ctx, file); err != nil {
		return "", err
	}
	return s.url() + filesPath + (&url.URL{Path: file.Key}).EscapedPath(), nil
}

// serveFile serves a file of an agent, whose address cannot be guessed. Browsers download the file. Pages can show it
// only as a picture.
func (s *service) serveFile(w http.ResponseWriter, r *http.Request) {
	content, err := s.files.Open(r.Context(), strings.TrimPrefix(r.URL.Path, filesPath))
	if err != nil {
		http.Error(w, "there is no such file", botctx.HTTPStatus(err))
		return
	}
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	if kind := pictureTypes[strings.ToLower(path.Ext(r.URL.Path))]; kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.Copy(w, content)
}

var pictureTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
}

// deskRecord returns the channel of a desk, with one team for all requests.
func (s *channelSettings) deskRecord() channel.Channel {
	return channel.Channel{
		ID: s.ID, App: s.App, Type: channel.Desk, On: true,
		PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{treeAgents}}},
		BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "team"}}},
		},
	}
}
