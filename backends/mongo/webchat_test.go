package mongo_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/send"
)

// webchatVariable is an environment variable with the name of a database. If it is set, the test binary is a
// host with a web chat on that database.
const webchatVariable = "BOTCTX_MONGO_WEBCHAT"

const (
	chatID   = "chat"
	chatPage = "https://shop.example"
	// anyNumber is a limit that the test never reaches.
	anyNumber = 1_000_000
)

// serveWebchat serves a web chat whose bot repeats each text. It prints its address and serves until its input
// ends.
func serveWebchat(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connection, err := driver.Connect(options.Client().ApplyURI(os.Getenv("BOTCTX_MONGO_WORKER_URI")))
	if err != nil {
		return err
	}
	database, err := mongo.New(ctx, connection.Database(name))
	if err != nil {
		return err
	}
	const poll, lease = 20 * time.Millisecond, 3 * time.Second
	chat, err := webchat.New(webchat.Config{Store: database, Poll: poll, Limits: webchat.Limits{
		Messages: anyNumber, Sessions: anyNumber, Requests: anyNumber, Channel: anyNumber, Streams: anyNumber,
	}})
	if err != nil {
		return err
	}
	rt, err := botctx.New(botctx.Config{
		Store: database, LaneLease: lease, Connectors: map[channel.Type]send.Connector{channel.Webchat: chat},
		Inbox: botctx.InboxOptions{Poll: poll, Limit: anyNumber, Backoff: func(int) time.Duration { return poll }},
	})
	if err != nil {
		return err
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Text(bot.MessageEvent.Text()))
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: chat.Handler(rt.Accept), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	go func() { _ = rt.Run(ctx) }()
	_, _ = fmt.Fprintln(os.Stdout, "http://"+listener.Addr().String()+"/")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// chatHosts are processes that serve the same web chat.
type chatHosts struct {
	t        *testing.T
	database string

	mu        sync.Mutex
	processes []process
	addresses []string
}

// start starts a process as number place.
func (h *chatHosts) start(place int) {
	command := exec.CommandContext(h.t.Context(), os.Args[0])
	command.Env = append(os.Environ(), webchatVariable+"="+h.database, "BOTCTX_MONGO_WORKER_URI="+uri)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	require.NoError(h.t, err)
	output, err := command.StdoutPipe()
	require.NoError(h.t, err)
	require.NoError(h.t, command.Start())
	address, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(h.t, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.processes[place], h.addresses[place] = process{command: command, input: input}, strings.TrimSpace(address)
}

func (h *chatHosts) address(number int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addresses[number%len(h.addresses)]
}

// kill kills a process with SIGKILL, and starts another one as the same number.
func (h *chatHosts) kill(place int) {
	h.mu.Lock()
	dying := h.processes[place]
	h.mu.Unlock()
	require.NoError(h.t, dying.command.Process.Kill())
	_ = dying.command.Wait() // It returns an error because the process was killed.
	h.start(place)
}

// visitor writes to any process and reads from any process.
type visitor struct {
	hosts *chatHosts
	token string
	// heard gets a value for each message that arrives.
	heard chan<- struct{}
}

// ask sends a request to a process. Callers must close the body.
func (v *visitor) ask(ctx context.Context, number int, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, v.hosts.address(number)+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Origin", chatPage)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+v.token)
	answer, err := chatClient.Do(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	return answer, err
}

// chatClient does not reuse connections, because a connection ends with its process.
var chatClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// writes sends messages. It repeats each one until a process accepts it.
func (v *visitor) writes(ctx context.Context, messages int) error {
	for i, try := 0, 0; i < messages; try++ {
		answer, err := v.ask(ctx, i+try, http.MethodPost, "messages", fmt.Sprintf(`{"clientId":"c%d","type":"TEXT","text":"%d"}`, i, i))
		if err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			continue
		}
		_ = answer.Body.Close()
		i++
	}
	return nil
}

// hears follows the stream until all messages and their answers have arrived. After each break it continues at
// another process.
func (v *visitor) hears(ctx context.Context, messages int) error {
	next, after := map[string]int{}, int64(0)
	for round := 0; next["me"] < messages || next["bot"] < messages; round++ {
		answer, err := v.ask(ctx, round, http.MethodGet, "stream?after="+strconv.FormatInt(after, 10), "")
		if err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("heard %v: %w", next, err)
			}
			continue
		}
		err = v.read(answer.Body, messages, next, &after)
		_ = answer.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads a stream until it breaks or everything has arrived. It returns an error if a message is lost,
// repeated or out of order.
func (v *visitor) read(stream io.Reader, messages int, next map[string]int, after *int64) error {
	lines := bufio.NewScanner(stream)
	for (next["me"] < messages || next["bot"] < messages) && lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		var e struct {
			Kind     string `json:"kind"`
			From     string `json:"from"`
			Seq      int64  `json:"seq"`
			Response struct {
				Text string `json:"text"`
			} `json:"response"`
		}
		if !isData || json.Unmarshal([]byte(data), &e) != nil || e.Kind != "message" {
			continue // The stream broke within this line.
		}
		if *after > 0 && e.Seq != *after+1 {
			return fmt.Errorf("%d comes after %d", e.Seq, *after)
		}
		if e.Response.Text != strconv.Itoa(next[e.From]) {
			return fmt.Errorf("%s says %q instead of %d", e.From, e.Response.Text, next[e.From])
		}
		*after = e.Seq
		next[e.From]++
		v.heard <- struct{}{}
	}
	return nil
}

// Visitors write to two processes on one database and read from them, while the processes are killed again and
// again.
func TestWebchat_ProcessesAreKilled(t *testing.T) {
	t.Parallel()
	const visitors, messages, places = 3, 20, 2
	kills := rounds.Of(t, 4, 30)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	database := newDatabase(t)
	stored, err := mongo.New(ctx, database)
	require.NoError(t, err)
	require.NoError(t, botctx.EnsureIndexes(ctx, stored))
	rt, err := botctx.New(botctx.Config{Store: stored})
	require.NoError(t, err)
	_, err = rt.SaveChannel(ctx, workerApp, &channel.Channel{
		ID: chatID, Type: channel.Webchat, On: true, Metadata: document.O("origins", document.A(chatPage)),
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", strings.Repeat("s", webchat.MinSecret)))},
	})
	require.NoError(t, err)
	hosts := &chatHosts{t: t, database: database.Name(), processes: make([]process, places), addresses: make([]string, places)}
	for place := range places {
		hosts.start(place)
	}

	heard := make(chan struct{}, 2*visitors*messages)
	var all sync.WaitGroup
	failures := make(chan error, 2*visitors)
	for range visitors {
		v := &visitor{hosts: hosts, heard: heard}
		v.token = v.session(t)
		all.Go(func() { failures <- v.writes(ctx, messages) })
		all.Go(func() { failures <- v.hears(ctx, messages) })
	}
	for kill := range kills {
		for range 2 * visitors * messages / (kills + 1) {
			select {
			case <-heard:
			case <-ctx.Done():
			}
		}
		hosts.kill(kill % places)
	}
	all.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	for _, one := range hosts.processes {
		require.NoError(t, errors.Join(one.input.Close(), one.command.Wait()))
	}
}

// session creates a visitor and returns its token.
func (v *visitor) session(t *testing.T) string {
	t.Helper()
	answer, err := v.ask(t.Context(), 0, http.MethodPost, "session", `{"channel":"`+chatID+`"}`)
	require.NoError(t, err)
	defer answer.Body.Close() //nolint:errcheck // The body has been read.
	var session struct {
		Token string `json:"token"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&session))
	return session.Token
}
