package bravo_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/livechat"
)

// grouped is a platform with a connector and its handler. The connector has the default times.
type grouped struct {
	*bravofake.Platform

	connector *bravo.Connector
	handler   http.Handler
	reported  atomic.Int64
	// loses is the number of requests for groups whose answer is lost.
	loses int
}

// RoundTrip implements http.RoundTripper.
func (g *grouped) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := connectortest.Directly{Handler: g.Platform}.RoundTrip(r)
	if g.loses > 0 && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/groups") {
		g.loses--
		return nil, errors.New("no answer")
	}
	return answer, err
}

// newGrouped must be called in a synctest bubble.
func newGrouped(t *testing.T) *grouped {
	t.Helper()
	g := &grouped{Platform: newPlatform()}
	g.connector = connectortest.New(t, bravo.New, bravo.Config{
		HTTPClient: &http.Client{Transport: g}, FindChannel: find, AppSecret: channel.NewSecret(appSecret),
	})
	g.handler = g.connector.Handler(nil)
	return g
}

// reports makes the platform report each new group to the handler this many times.
func (g *grouped) reports(t *testing.T, times int) {
	t.Helper()
	g.ReportsPerGroup = times
	g.Report = func(body []byte) {
		answer := httptest.NewRecorder()
		g.handler.ServeHTTP(answer, graphtest.Report(t.Context(), "/bravo", appSecret, body))
		if answer.Code == http.StatusOK {
			g.reported.Add(1)
		}
	}
}

func TestGroup_ConfirmedByAReport(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 2} { // The platform may report a group twice.
		synctest.Test(t, func(t *testing.T) {
			g := newGrouped(t)
			g.ListsUntilShown = -1
			g.reports(t, times)
			began := time.Now() //nolint:forbidigo // Virtual time.
			made, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Name: "Ada", NeedsInvitationLink: true})
			require.NoError(t, err)
			require.NotEmpty(t, made.ExternalID)
			require.NotEmpty(t, made.InvitationLink)
			require.Zero(t, time.Since(began), "it does not wait for the list") //nolint:forbidigo // Virtual time.
			synctest.Wait()
			require.EqualValues(t, times, g.reported.Load())
			require.Equal(t, []string{"a group", "Ada"}, g.Groups())
		})
	}
}

func TestGroup_FoundInTheList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		g.AddGroup(shopNumber, "Y2FwaV9ncm91cDoother", "Ada") // A different group with the same name.
		g.ListsUntilShown = 3
		began := time.Now() //nolint:forbidigo // Virtual time.
		made, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Name: "Ada"})
		require.NoError(t, err)
		require.NotEqual(t, "Y2FwaV9ncm91cDoother", made.ExternalID)
		require.Empty(t, made.InvitationLink, "none was asked for")
		require.Equal(t, 1600*time.Millisecond, time.Since(began), "the fourth look") //nolint:forbidigo // Virtual time.
	})
}

func TestGroup_ConfirmedLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		g.ListsUntilShown = -1
		wanted := livechat.NewGroup{Key: "key-1", Name: "Ada"}
		began := time.Now() //nolint:forbidigo // Virtual time.
		_, err := g.connector.CreateGroup(t.Context(), shop(), wanted)
		require.ErrorContains(t, err, "has not confirmed the group")
		require.False(t, boterr.HasCode(err))
		require.Equal(t, 12*time.Second, time.Since(began)) //nolint:forbidigo // Virtual time.
		g.Show()
		first, err := g.connector.CreateGroup(t.Context(), shop(), wanted)
		require.NoError(t, err)
		again, err := g.connector.CreateGroup(t.Context(), shop(), wanted)
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Equal(t, []string{"a group", "Ada"}, g.Groups(), "it is asked for once")
	})
}

// A search that fails after the group was requested does not make the caller request a second group.
func TestGroup_SearchFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, searches := newPlatform(), 0
		p.ListsUntilShown = 2
		connector := over(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				searches++
			}
			if r.Method == http.MethodGet && searches == 2 { // The first one is before the request.
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			p.ServeHTTP(w, r)
		}))
		made, err := connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Key: "key-1", Name: "Ada"})
		require.NoError(t, err)
		require.NotEmpty(t, made.ExternalID)
		require.Equal(t, []string{"a group", "Ada"}, p.Groups())
	})
}

// A platform that creates the group and loses the answer does not make the caller request a second group.
func TestGroup_AnswerIsLost(t *testing.T) {
	t.Parallel()
	for _, isReported := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGrouped(t)
			g.ListsUntilShown = 3
			if isReported {
				g.ListsUntilShown = -1
				g.reports(t, 1)
			}
			g.loses = 1
			made, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Key: "key-1", Name: "Ada"})
			require.NoError(t, err)
			require.NotEmpty(t, made.ExternalID)
			require.Equal(t, []string{"a group", "Ada"}, g.Groups())
		})
	}
}

func TestGroup_ReportedAfterTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		g.ListsUntilShown, g.loses = -1, 1
		var late []byte
		g.Report = func(body []byte) { late = body }
		wanted := livechat.NewGroup{Key: "key-1", Name: "Ada"}
		_, err := g.connector.CreateGroup(t.Context(), shop(), wanted)
		require.ErrorContains(t, err, "has not confirmed the group")
		require.ErrorContains(t, err, "no answer")
		require.False(t, boterr.HasCode(err))
		synctest.Wait()
		g.handler.ServeHTTP(httptest.NewRecorder(), graphtest.Report(t.Context(), "/bravo", appSecret, late))
		_, err = g.connector.CreateGroup(t.Context(), shop(), wanted)
		require.NoError(t, err)
		require.Equal(t, []string{"a group", "Ada"}, g.Groups(), "it is asked for once")
	})
}

func TestGroup_NameWithSpaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		for _, name := range []string{" Ada\n", strings.Repeat("a", 127) + " b", " "} {
			_, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Name: name})
			require.NoError(t, err, "the platform removes them")
		}
		require.Equal(t, []string{"a group", "Ada", strings.Repeat("a", 127), "Group"}, g.Groups())
	})
}

func TestGroup_Refused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		g.ListsUntilShown = -1
		g.Report = func([]byte) {
			g.handler.ServeHTTP(httptest.NewRecorder(), graphtest.Report(t.Context(), "/bravo", appSecret, change("group_lifecycle_update",
				`"groups":[{"timestamp":"1","type":"group_create","request_id":"request000003","errors":[{"code":131031,"message":"locked"}]}]`)))
		}
		_, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Name: "Ada"})
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "locked the account")
	})
}

func TestGroup_AgentGetsTheLink(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	made, err := over(t, p).CreateGroup(t.Context(), shop(), livechat.NewGroup{Key: "k", AdminExternalID: ada})
	require.NoError(t, err)
	require.Len(t, p.Sent(), 1)
	require.Equal(t, ada, p.Sent()[0].To)
	require.Contains(t, p.Sent()[0].Body.String(), made.InvitationLink)
}

// pixels is a picture whose middle is red and whose edges are blue.
func pixels(width, height int) image.Image {
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{0, 0, 255, 255}, color.RGBA{255, 0, 0, 255}})
	for x := width / 4; x < width*3/4; x++ {
		for y := range height {
			picture.SetColorIndex(x, y, 1)
		}
	}
	return picture
}

func TestIcon_IsMadeToFit(t *testing.T) {
	t.Parallel()
	var square, wide, small bytes.Buffer
	require.NoError(t, jpeg.Encode(&square, pixels(200, 200), nil))
	require.NoError(t, png.Encode(&wide, pixels(1600, 800)))
	require.NoError(t, gif.Encode(&small, pixels(4, 8), nil))
	for name, c := range map[string]struct {
		given []byte
		side  int
	}{"square": {square.Bytes(), 200}, "wide": {wide.Bytes(), 640}, "small": {small.Bytes(), 192}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			require.NoError(t, over(t, p).SetGroupIcon(t.Context(), shop(), groupID, livechat.Picture{Bytes: c.given}))
			if name == "square" {
				require.Equal(t, c.given, p.Icon(groupID), "it is sent as it is")
			}
			shown, err := jpeg.Decode(bytes.NewReader(p.Icon(groupID)))
			require.NoError(t, err)
			require.Equal(t, image.Rect(0, 0, c.side, c.side), shown.Bounds())
			red, _, blue, _ := shown.At(c.side/2, c.side/2).RGBA()
			require.Greater(t, red, 3*blue, "the middle stays the middle")
		})
	}
}

func TestIcon_Refuses(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	require.NoError(t, png.Encode(&whole, pixels(300, 300)))
	p := newPlatform()
	for says, given := range map[string][]byte{
		"is not a readable":   nil,
		"readable picture":    []byte("no picture"),
		"truncated":           whole.Bytes()[:whole.Len()/2],
		"has 65535 x 65535":   []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;"),
		"give a JPEG, a PNG":  []byte("GIF89a\x00\x00"),
		"pixels; give a pict": []byte("GIF89a\x00\x00\x01\x00\x00\x00\x00;"),
	} {
		err := over(t, p).SetGroupIcon(t.Context(), shop(), groupID, livechat.Picture{ContentType: "image/png", Bytes: given})
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorContains(t, err, says)
	}
	require.Empty(t, p.Icon(groupID))
}

func FuzzIcon(f *testing.F) {
	var picture bytes.Buffer
	_ = png.Encode(&picture, pixels(3, 2))
	f.Add(picture.Bytes())
	f.Fuzz(func(t *testing.T, given []byte) {
		p := newPlatform()
		err := over(t, p).SetGroupIcon(t.Context(), shop(), groupID, livechat.Picture{Bytes: given})
		if err != nil {
			require.ErrorIs(t, err, boterr.InvalidArgument)
		}
	})
}

func TestGroup_ReportIsFasterThanTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		g.ListsUntilShown = -1
		for i := range 200 { // More reports than the connector keeps; the last ones count.
			g.handler.ServeHTTP(httptest.NewRecorder(), graphtest.Report(t.Context(), "/bravo", appSecret, change("group_lifecycle_update",
				fmt.Sprintf(`"groups":[{"timestamp":"1","type":"group_create","request_id":"request%06d","group_id":"g%d"}]`, 102-i/2, i))))
		}
		made, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Name: "Ada"})
		require.NoError(t, err)
		require.Equal(t, "g198", made.ExternalID)
	})
}

func TestGroup_AmongManyOfItsName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		for i := range 120 {
			g.AddGroup(shopNumber, fmt.Sprintf("Y2FwaV9ncm91cDoother%d", i), "Ada")
		}
		g.ListsUntilShown = 2
		made, err := g.connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Key: "k", Name: "Ada"})
		require.NoError(t, err)
		require.NotContains(t, made.ExternalID, "other")
	})
}
