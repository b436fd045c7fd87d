package desk_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send/sendtest"
	"github.com/botctx/go-sdk/store/memstore"
)

// play is a random sequence of acts of members and agents, over two desks that share a store.
type play struct {
	*host

	desks  []*host
	random *rand.Rand
	count  int
	// toMember and toAgent are the texts that were accepted, by chat, in order.
	toMember, toAgent map[string][]string
}

func (p *play) any(names ...string) string { return names[p.random.IntN(len(names))] }

func (p *play) next(of string) string {
	p.count++
	return of + strconv.Itoa(p.count)
}

// agent lets an agent do something with an open request, at one of the desks.
func (p *play) agent() {
	open := p.open("shop")
	if len(open) == 0 {
		return
	}
	at := p.desks[p.random.IntN(len(p.desks))]
	r, agent := open[p.random.IntN(len(open))], p.any("grace", "eve", "busy")
	path := "/chats/shop/" + r.ID
	var status int
	switch p.random.IntN(8) {
	case 0, 1, 2:
		status, _ = at.asks(agent, path+"/take", nothing)
	case 3, 4, 5:
		text := p.next("agent ")
		if status, _ = at.asks(agent, path+"/messages", fields{"key": text, "text": text}); status == http.StatusOK {
			require.Equal(p.t, agent, r.Assignee, "only the agent who has the chat writes in it")
			p.toMember[r.ID] = append(p.toMember[r.ID], text)
		}
	case 6:
		status, _ = at.asks(agent, path+p.any("/giveback", "/end", "/notes"), fields{})
	default:
		status, _ = at.asks(agent, path+"/handover", fields{"agent": p.any("grace", "eve", "busy")})
	}
	require.Less(p.t, status, 500)
}

// member lets a member write.
func (p *play) member() {
	who := p.any("ada", "bob", "carol")
	if p.random.IntN(6) == 0 {
		p.says("shop", who, p.any("a person", "bye"))
		return
	}
	chat := ""
	for _, r := range p.open("shop") {
		if r.State() == livechat.Taken && strings.EqualFold(document.Get(r.GroupInfo, "name", ""), who) {
			chat = r.ID
		}
	}
	text := p.next("member ")
	p.says("shop", who, text)
	if chat != "" {
		p.toAgent[chat] = append(p.toAgent[chat], text)
	}
}

// TestChats_AtRandom checks that no text is lost, doubled or out of order, whatever members and agents do.
func TestChats_AtRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 3, 40)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			c := newClock()
			shared := unwatched{memstore.New(memstore.WithNow(c.now))}
			first, second := newHostOver(t, c, shared), newHostOver(t, c, shared)
			p := &play{
				host: first, desks: []*host{first, second}, random: rand.New(rand.NewPCG(seed, 7)),
				toMember: map[string][]string{}, toAgent: map[string][]string{},
			}
			for _, agent := range []string{"grace", "eve", "busy"} {
				p.does(agent, "/about", nil)
			}
			for range 150 {
				c.advance(time.Second)
				if p.random.IntN(2) == 0 {
					p.member()
				} else {
					p.agent()
				}
				p.runs()
			}
			p.check()
		})
	}
}

func (p *play) check() {
	p.t.Helper()
	got := slices.Concat(p.desks[0].inlet.allTexts(), p.desks[1].inlet.allTexts())
	for id, texts := range p.toMember {
		require.Equal(p.t, texts, among(got, texts), "what the member got")
		log := p.log("grace", "/chats/shop/"+id)
		require.Equal(p.t, prefixed("agent: ", texts), among(log, prefixed("agent: ", texts)), "what the log has")
	}
	for id, texts := range p.toAgent {
		log := p.log("grace", "/chats/shop/"+id)
		require.Equal(p.t, prefixed("member: ", texts), among(log, prefixed("member: ", texts)), "what the agent got")
	}
	require.NotEmpty(p.t, p.toMember)
	require.NotEmpty(p.t, p.toAgent)
}

// among returns the texts of a list that are wanted, in the order of the list.
func among(list, wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !slices.Contains(wanted, text) })
}

func prefixed(prefix string, texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = prefix + text
	}
	return all
}

func TestStream_OutlivesTheStore(t *testing.T) {
	t.Parallel()
	c := newClock()
	failing := newFailing(memstore.New(memstore.WithNow(c.now)))
	h := newHostOver(t, c, failing)
	path := h.taken("ada", "grace")
	h.waiting("shop", "bob")
	stream := h.stream("eve")
	until(t, stream, `"agent":"grace"`)
	failing.fail(sendtest.Broken)
	h.refused(http.StatusServiceUnavailable, "grace", path+"/messages", fields{"key": "1", "text": "Lost?"})
	failing.fail(sendtest.Healthy)
	h.does("grace", path+"/messages", fields{"key": "1", "text": "Lost?"})
	until(t, stream, "Lost?")
	h.runs()
	require.Equal(t, []string{"Lost?"}, among(h.inlet.texts(), []string{"Lost?"}))
}

func TestStream_EndsWithTheSignIn(t *testing.T) {
	t.Parallel()
	var isOut atomic.Bool
	h := newHost(t, func(c *desk.PageConfig) {
		signedIn := c.Agent
		c.Agent = func(r *http.Request) (*desk.Agent, error) {
			if isOut.Load() {
				return nil, nil
			}
			return signedIn(r)
		}
	})
	h.desk.SetBeat(time.Millisecond)
	stream := h.stream("grace")
	newsOf(t, stream, 1)
	isOut.Store(true)
	for line := ""; line != "event: bye\n"; {
		var err error
		line, err = stream.ReadString('\n')
		require.NoError(t, err)
	}
}
