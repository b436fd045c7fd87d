package platforms_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// column is a connector in the tables of docs/platforms.md, with a channel and a recipient on its fake platform.
type column struct {
	connector send.Connector
	in        *channel.Channel
	to        string
	// types are the types of channels that the connector serves.
	types []channel.Type
}

// columns returns the connectors by name.
func columns(t *testing.T) map[string]column {
	t.Helper()
	serve := func(platform http.Handler) string {
		server := httptest.NewServer(platform)
		t.Cleanup(server.Close)
		return server.URL
	}
	var errs []error
	keep := func(connector send.Connector, err error) send.Connector {
		errs = append(errs, err)
		return connector
	}
	bot := telegramfake.New()
	bot.AddBot("7001:secret-of-tests", "shop")
	bot.AddUser(501, "Ada")
	widget := foxtrotfake.New(map[string]string{"key-of-desk:secret-of-desk": "app-of-all"})
	widget.AddConversation("app-of-all", "c1")
	tool := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true,"channel":"C1","ts":"1700000000.000100","message":{}}`)
	})
	other := func(fields ...any) channel.Info {
		return channel.OtherInfo{Hidden: channel.Hide(document.O(fields...))}
	}
	team := hotelPlatform()
	agents := keep(desk.New(desk.Config{Store: memstore.New()}))
	board := &channel.Channel{ID: "board", App: "app-1", Type: desk.Type}
	all := map[string]column{
		"alpha": {
			connector: keep(alpha.New(alpha.Config{APIURL: serve(alphafake.New(map[string]string{"token-of-shop": "1900"}, "100")) + "/v23.0"})),
			in:        alphaChannel("shop", "1900"), to: "100", types: []channel.Type{channel.Alpha},
		},
		"bravo": {
			connector: keep(bravo.New(bravo.Config{APIURL: serve(bravofake.New(map[string]string{"token-of-shop": "106"}, "16505551234")) + "/v23.0"})),
			in:        bravoChannel("shop", "106"), to: "16505551234", types: []channel.Type{channel.Bravo},
		},
		"charlie": {
			connector: keep(charlie.New(charlie.Config{APIURL: serve(tool)})),
			in:        charlieChannel(), to: "C1", types: []channel.Type{channel.Charlie},
		},
		"desk": {
			connector: agents, in: board, to: newConversation(t, agents, board), types: []channel.Type{desk.Type},
		},
		"echo": {
			connector: keep(echo.New(echo.Config{APIURL: serve(echofake.New(map[string]string{"wx-shop": "secret-of-shop"}, "oAda")), Files: onePicture{}})),
			in:        echoChannel("shop"), to: "oAda", types: []channel.Type{channel.Echo},
		},
		"foxtrot": {
			connector: keep(foxtrot.New(foxtrot.Config{HTTPClient: &http.Client{}})),
			in:        foxtrotChannel("desk", serve(widget)), to: "c1", types: []channel.Type{channel.Foxtrot},
		},
		"hotel": {
			connector: keep(hotel.New(hotelConfig(serve(team), team))),
			in:        hotelChannel("shop"), to: "29:ada", types: []channel.Type{channel.Hotel},
		},
		"telegram": {
			connector: keep(telegram.New(telegram.Config{APIURL: serve(bot)})),
			in:        &channel.Channel{ID: "shop", Type: telegram.Type, Info: other("token", "7001:secret-of-tests")},
			to:        "501", types: []channel.Type{telegram.Type},
		},
		"webchat": {
			connector: keep(webchat.New(webchat.Config{Store: memstore.New()})),
			in: &channel.Channel{
				ID: "web", App: "app-1", Type: channel.Webchat, Info: other("webchatSecret", "keep-this-in-a-vault-and-not-here"),
			},
			to: "u:ada", types: []channel.Type{channel.Webchat},
		},
		"webhook": {
			connector: keep(webhook.New(webhook.Config{HTTP: http.DefaultClient})),
			in: &channel.Channel{
				ID: "chat", App: "app-1", Type: channel.Custom, Info: other("webhookSecret", "keep-this-in-a-vault-and-not-here"),
				Metadata: document.O("webhookUrl", serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))),
			},
			to: "ada", types: []channel.Type{channel.Custom, channel.Webchat, channel.Delta},
		},
	}
	require.NoError(t, errors.Join(errs...))
	return all
}

func newConversation(t *testing.T, outlet send.Connector, in *channel.Channel) string {
	t.Helper()
	made, err := outlet.(livechat.GroupCreator).CreateGroup(t.Context(), in, livechat.NewGroup{Key: "a1", Name: "Ada"})
	require.NoError(t, err)
	return made.ExternalID
}

func messageRows() map[string]send.Response {
	const address = "https://x.test/a.png"
	card := send.Card{Title: "Tea", Subtitle: "green", ImageURL: address, Buttons: []send.Button{send.WebURL("Buy", "https://x.test")}}
	return map[string]send.Response{
		"TEXT": send.Text("Hello"), "IMAGE": send.Image(address), "AUDIO": send.Audio(address), "VIDEO": send.Video(address), "FILE": send.File(address),
		"IMAGE by `attachment_id`":  send.Attachment(send.TypeImage, "77"),
		"QUICK_REPLIES":             send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{Title: "No"}),
		"BUTTON":                    send.Buttons("Now?", send.Postback("Yes", "y"), send.Postback("No", "n")),
		"BUTTON with an address":    send.Buttons("Now?", send.WebURL("Menu", "https://x.test")),
		"CAROUSEL of one card":      send.Carousel(card),
		"CAROUSEL of several cards": send.Carousel(card, card),
		"TYPING":                    send.Typing(1),
		"NEWS":                      send.News(send.Article{Title: "Tea", URL: "https://x.test"}),
		"TEMPLATE":                  send.BravoTemplate("order", "en"),
		"MISC with a relayed picture": send.Other(send.TypeMisc, document.O("attachments", document.A(
			document.O("type", "image", "payload", document.O("url", address))))),
		"a type that no platform has": send.Other("HOLOGRAM", document.O("text", "x")),
	}
}

func has[Port any](c send.Connector) bool {
	_, offers := send.PortOf[Port](c)
	return offers
}

// operationRows returns, for each row in the table of operations, whether a connector supports it.
func operationRows() map[string]func(send.Connector) bool {
	return map[string]func(send.Connector) bool{
		"`alphaGetAttachmentId`":                has[send.AttachmentUploader],
		"`alphaSaveCustomLabel`":                has[send.Labeler],
		"`alphaRemoveCustomLabel`":              has[send.Labeler],
		"`alphaPassThreadControl`":              has[send.ThreadPasser],
		"`alphaCreateBroadcast`":                has[send.Broadcaster],
		"`alphaSendBroadcast`":                  has[send.Broadcaster],
		"`sendDeltaResponse`":                   has[send.BatchSender],
		"`charlieArchiveConversation`":          has[send.ConversationArchiver],
		"`updateMessage`":                       has[send.MessageUpdater],
		"`EchoSaveMemberTag`":                   has[send.Tagger],
		"`createBravoGroup`":                    has[livechat.GroupCreator],
		"`disableBravoGroupInviteLink`":         has[livechat.InviteLinker],
		"`setBravoGroupIcon`":                   has[livechat.GroupIconSetter],
		"`createHotelChannel`":                  has[livechat.ChannelCreator],
		"live chat: a group for each":           has[livechat.GroupCreator],
		"live chat: tickets show who took them": has[livechat.TicketUpdater],
		"live chat: tickets are recalled":       has[livechat.TicketRecaller],
	}
}

// platformsOf returns the types of channels that an operation supports, or nil for all.
func platformsOf(t *testing.T, row string) []channel.Type {
	t.Helper()
	name, isOperation := strings.CutPrefix(strings.TrimSuffix(row, "`"), "`")
	if !isOperation {
		return nil
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "operations", "operations.json"))
	require.NoError(t, err)
	var file struct {
		Operations []struct {
			Name      string         `json:"name"`
			Platforms []channel.Type `json:"platforms"`
		} `json:"operations"`
	}
	require.NoError(t, json.Unmarshal(text, &file))
	for _, one := range file.Operations {
		if one.Name == name {
			return one.Platforms
		}
	}
	require.Fail(t, "there is no such operation", name)
	return nil
}

// table has the cells of a table in docs/platforms.md by row and column.
type table map[string]map[string]string

// tableIn returns the table below a heading.
func tableIn(t *testing.T, text, heading string) table {
	t.Helper()
	_, part, isThere := strings.Cut(text, "\n## "+heading+"\n")
	require.True(t, isThere, heading)
	part, _, _ = strings.Cut(part, "\n## ")
	var names []string
	found := table{}
	for line := range strings.Lines(part) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if names == nil {
			names = cells[1:]
			continue
		}
		found[cells[0]] = map[string]string{}
		for i, cell := range cells[1:] {
			found[cells[0]][names[i]] = cell
		}
	}
	return found
}

// cell matches a cell: yes, maybe with the number of a note, or no with one.
var cell = regexp.MustCompile(`^(yes( \d+)?|no \d+)$`)

// The tables of docs/platforms.md must match the connectors.
func TestTable_IsWhatTheConnectorsDo(t *testing.T) {
	t.Parallel()
	bytes, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "platforms.md"))
	require.NoError(t, err)
	text := string(bytes)
	messages, operations := table{}, table{}
	for name, of := range columns(t) {
		for row, response := range messageRows() {
			word := "yes"
			_, err := of.connector.Send(t.Context(), send.Message{ID: "send-1", Channel: of.in, To: of.to, Response: response})
			if err != nil {
				code := boterr.CodeOf(err)
				require.True(t, code == boterr.Unsupported || code == boterr.InvalidArgument, "%s of %s: %v", row, name, err)
				word = "no"
			}
			if owner, isOwned := channel.OwnerOf(string(response.Type())); isOwned && !slices.Contains(of.types, owner) {
				word = "no" // The operations refuse this platform.
			}
			messages.set(row, name, word)
		}
		for row, offers := range operationRows() {
			platforms := platformsOf(t, row)
			isFor := platforms == nil || slices.ContainsFunc(of.types, func(one channel.Type) bool { return slices.Contains(platforms, one) })
			word := "no"
			if isFor && offers(of.connector) {
				word = "yes"
			}
			operations.set(row, name, word)
		}
	}
	reasons := map[string]bool{}
	for heading, want := range map[string]table{"Messages": messages, "Operations": operations} {
		got := tableIn(t, text, heading)
		for row, cells := range got {
			for name, shown := range cells {
				require.Regexp(t, cell, shown, "%s, %s", row, name)
				word, reason, _ := strings.Cut(shown, " ")
				if reason != "" {
					reasons[reason] = true
				}
				cells[name] = word
			}
		}
		require.Equal(t, want, got, heading)
	}
	for reason := range reasons {
		require.Regexp(t, `(?m)^`+reason+`\. `, text, "the reason %s", reason)
	}
	for _, listed := range regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(text, -1) {
		require.True(t, reasons[listed[1]], "no cell has the reason %s", listed[1])
	}
}

// ports are the optional ports of each connector.
var ports = map[string][]string{
	"alpha":    {"AttachmentUploader", "Labeler", "ThreadPasser"},
	"bravo":    {"GroupCreator", "GroupIconSetter", "GroupNamer", "InviteLinker"},
	"charlie":  {"ConversationArchiver", "GroupCreator", "MessageUpdater", "ResponseFormatter", "TicketRecaller", "TicketUpdater"},
	"desk":     {"ConversationArchiver", "GroupCreator", "GroupNamer", "TicketRecaller", "TicketUpdater"},
	"echo":     {"Tagger"},
	"hotel":    {"ChannelCreator", "GroupNamer", "MessageUpdater", "TicketRecaller", "TicketUpdater"},
	"telegram": {"GroupCreator", "GroupIconSetter", "InviteLinker", "MessageUpdater", "TicketRecaller", "TicketUpdater"},
}

// A connector that has no port for something must not offer it, so that the operation is Unsupported.
func TestPorts_OfEachConnector(t *testing.T) {
	t.Parallel()
	offered := map[string][]string{}
	for name, of := range columns(t) {
		limited := send.Limited(of.connector, send.Rate{Messages: 1, Burst: 1})
		for port, has := range map[string]func(send.Connector) bool{
			"BatchSender": has[send.BatchSender], "Broadcaster": has[send.Broadcaster], "AttachmentUploader": has[send.AttachmentUploader],
			"ThreadPasser": has[send.ThreadPasser], "Labeler": has[send.Labeler], "Tagger": has[send.Tagger],
			"ConversationArchiver": has[send.ConversationArchiver], "MessageUpdater": has[send.MessageUpdater],
			"ResponseFormatter": has[send.ResponseFormatter],
			"GroupCreator":      has[livechat.GroupCreator], "InviteLinker": has[livechat.InviteLinker], "GroupNamer": has[livechat.GroupNamer],
			"GroupIconSetter": has[livechat.GroupIconSetter], "TicketUpdater": has[livechat.TicketUpdater],
			"TicketRecaller": has[livechat.TicketRecaller], "ChannelCreator": has[livechat.ChannelCreator],
		} {
			require.Equal(t, has(of.connector), has(limited), "%s, %s", name, port)
			if has(of.connector) {
				offered[name] = append(offered[name], port)
			}
		}
		slices.Sort(offered[name])
	}
	require.Equal(t, ports, offered)
	echo := columns(t)["echo"]
	_, err := send.RequirePort[send.Labeler](send.Connectors{channel.Echo: echo.connector}, echo.in, "put labels on members")
	require.ErrorIs(t, err, boterr.Unsupported)
	require.ErrorContains(t, err, `channels of type "echo" cannot put labels on members`)
}

// set writes a word into a cell, and adds the row if it is new.
func (t table) set(row, name, word string) {
	if t[row] == nil {
		t[row] = map[string]string{}
	}
	t[row][name] = word
}
