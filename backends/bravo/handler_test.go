package bravo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
)

// shown prints the events of a box, one per line.
func shown(b *box) []string {
	var lines []string
	for _, one := range b.Got {
		e := one.Event
		line := fmt.Sprintf("%s %s>%s at %d %s", e.Type, e.From, e.To, e.Timestamp, e.Data)
		if one.GroupExternalID != "" {
			line = "in " + one.GroupExternalID + ": " + line
		}
		if one.Profile.FirstName != "" {
			line += " of " + one.Profile.FirstName
		}
		lines = append(lines, line)
	}
	for _, drop := range b.Drops.Counts() {
		lines = append(lines, fmt.Sprintf("drop %q %s", drop.Kind, drop.Reason))
	}
	return lines
}

const (
	sheena  = "16505551234>106540352242922 at "
	inGroup = "Y2FwaV9ncm91cDoxODA1NTU1MDE3MjoxMjAzNjMyMjI3NzE5NjMwNjcZD"
)

// recorded maps the names of the recorded reports to their events.
var recorded = map[string][]string{
	"Text Message": {`TEXT ` + sheena + `1749416383000 {"text":"Does it come in another color?"} of Sheena Nelson`},
	"Text Message with Context (Product Inquiry)": {`TEXT ` + sheena + `1750016800000 {"text":"Is this still available?","context":{"from":"15550783881",` +
		`"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGA9wcm9kdWN0X2lucXVpcnkA","referred_product":{"catalog_id":"194836987003835","product_retailer_id":"di9ozbzfi4"}}} of Sheena Nelson`},
	"Text Message from Click to WhatsApp Ad": {`TEXT ` + sheena + `1750275992000 {"text":"Hello! Can I get more info on this?","referral":{"source_url":"https://fb.me/3cr4Wqqkv",` +
		`"source_id":"120226305854810726","source_type":"ad","body":"Summer Succulents are here!","headline":"Chat with us","media_type":"image",` +
		`"image_url":"https://scontent.xx.fbcdn.net/v/t45.1...","ctwa_clid":"Aff-n8ZTODiE79d22KtAwQKj9e_mIEOOj27vDVwFjN80dp4_0NiNhEgpGo0AHemvuSoifXaytfTzcchptiErTKCqTrJ5nW1h7IHYeYymGb5K5J5iTROpBhWAGaIAeUzHL50",` +
		`"welcome_message":{"text":"Hi there! Let us know how we can help!"}}} of Sheena Nelson`},
	"Reaction Message": {`MISC ` + sheena + `1749419544000 {"reaction":{"message_id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI0RTJEOTc2ODVERUY5RDlGNkYA","emoji":"👍"}} of Sheena Nelson`},
	"Image Message": {`MISC ` + sheena + `1744344496000 {"attachments":[{"type":"image","payload":{"attachment_id":"1003383421387256","mime_type":"image/jpeg",` +
		`"sha256":"SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI="},"title":""}],"text":"Taj Mahal"} of Sheena Nelson`},
	"Location Message": {`MISC ` + sheena + `1744344496000 {"attachments":[{"type":"location","title":"Philz Coffee","payload":{"coordinates":{"lat":37.44221496582,` +
		`"long":-122.16165924072}}}],"location":{"address":"101 Forest Ave, Palo Alto, CA 94301","latitude":37.44221496582,"longitude":-122.16165924072,` +
		`"name":"Philz Coffee","url":"https://philzcoffee.com/"}} of Sheena Nelson`},
	"Contact Sharing Message": {`MISC ` + sheena + `1744344496000 {"contacts":[{"name":{"first_name":"Lucía","last_name":"Gómez","formatted_name":"Lucía Gómez"},` +
		`"org":{"company":"Google"},"phones":[{"phone":"+1 (983) 555-2319","wa_id":"19835552319","type":"MOBILE"}]}]} of Sheena Nelson`},
	"Unsupported Message": {`MISC ` + sheena + `1750090702000 {"errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown",` +
		`"error_data":{"details":"Message type is currently not supported."}}]} of Sheena Nelson`},
	"Button Message": {`PAYLOAD ` + sheena + `1750091045000 {"payload":"Unsubscribe","text":"Unsubscribe","context":{"from":"15550783881",` +
		`"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJFNjk2OTMwNEZCQjhGMzUyQUYA"}} of Sheena Nelson`},
	"Interactive List Reply Message": {`PAYLOAD ` + sheena + `1749854575000 {"payload":"priority_express","text":"Priority Mail Express","context":{"from":"15550783881",` +
		`"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJGMzEyNzhENTZDMzNGODlDRDgA"}} of Sheena Nelson`},
	"Interactive Button Reply Message": {`PAYLOAD ` + sheena + `1750025136000 {"payload":"cancel-button","text":"Cancel","context":{"from":"15550783881",` +
		`"id":"wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3MEM2RUJFNkI0RENGQTVDRjUA"}} of Sheena Nelson`},
	"Order Message": {`MISC ` + sheena + `1750096325000 {"order":{"catalog_id":"194836987003835","text":"","product_items":[{"product_retailer_id":"di9ozbzfi4",` +
		`"quantity":2,"item_price":30,"currency":"USD"},{"product_retailer_id":"nqryix03ez","quantity":1,"item_price":25,"currency":"USD"}]}} of Sheena Nelson`},
	"System Message": {`MISC ` + sheena + `1750269342000 {"system":{"body":"User Sheena Nelson changed from 16505551234 to 12195555358","wa_id":"12195555358",` +
		`"type":"user_changed_number"}}`},
	"Group Create Message":  {`drop "group_create" unsupported`},
	"Group Settings Update": {`drop "group_settings_update" unsupported`},
	"Group Remove Participants": {
		removed("16505551234"), removed("16505551235"),
	},
}

// removed prints the event of a person who left the group of the recorded report.
func removed(who string) string {
	return `in ` + inGroup + `: MISC ` + who + `>` + inGroup + ` at 1750269342000 {"type":"group_create","group":{"timestamp":"1750269342","group_id":"` + inGroup + `",` +
		`"type":"group_create","request_id":"784D93D0C468593037EA0B1ECA245D9C","removed_participants":[{"input":16505551234,"wa_id":16505551234},` +
		`{"input":16505551235,"wa_id":16505551235}]}}`
}

func TestHandler_RecordedReports(t *testing.T) {
	t.Parallel()
	var api struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Examples map[string]struct{ Value json.RawMessage }
					}
				}
			}
		}
	}
	connectortest.Facts(t, "bravo", "whatsapp-cloud-cut.json", &api)
	examples := api.Paths["/whatsapp/webhooks"].Post.RequestBody.Content["application/json"].Examples
	require.ElementsMatch(t, slices.Collect(maps.Keys(recorded)), slices.Collect(maps.Keys(examples)), "each report has its events in the table")
	for name, example := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, example.Value))
			require.Equal(t, recorded[name], shown(b))
			forged := newBox(t)
			require.Equal(t, http.StatusUnauthorized, forged.report(t.Context(), "another secret", example.Value))
			request := graphtest.Report(t.Context(), "/bravo", appSecret, example.Value)
			request.Body = http.MaxBytesReader(nil, request.Body, int64(len(example.Value)-1))
			answer := httptest.NewRecorder()
			forged.ServeHTTP(answer, request)
			require.NotEqual(t, http.StatusOK, answer.Code, "a report that was cut")
			require.Empty(t, shown(forged))
		})
	}
}

func TestHandler_Statuses(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, status := range []string{
		`{"id":"w1","status":"sent","timestamp":"1700000000","recipient_id":"1"}`,
		`{"id":"w1","status":"delivered","timestamp":"1700000000","recipient_id":"1","biz_opaque_callback_data":"send-1"}`,
		`{"id":"w1","status":"read","timestamp":"1700000001","recipient_id":"1"}`,
		`{"id":"w2","status":"failed","timestamp":"1700000002","recipient_id":"1","errors":[{"code":131047,"title":"Re-engagement message"}]}`,
		`{"id":"w3","status":"failed","timestamp":"1700000003","recipient_id":"1"}`,
		`{"id":"w4","status":"delivered","timestamp":"1700000004","recipient_id":"g","recipient_type":"group","group_id":"g","recipient_participant_id":"2"}`,
	} {
		for range 2 {
			require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, change("messages", `"statuses":[`+status+`]`)))
		}
	}
	var failures, lines []string
	for _, one := range b.Got {
		lines = append(lines, fmt.Sprintf("%s %s %s>%s in %q", one.Event.Type, one.Event.MessageID, one.Event.From, one.Event.To, one.GroupExternalID))
		if code := document.Get(one.Event.Data, "error.code", ""); code != "" {
			failures = append(failures, code+" "+document.Get(one.Event.Data, "error.message", ""))
		}
	}
	require.Equal(t, []string{
		`DELIVERY w1 1>106540352242922 in ""`, `READ w1 1>106540352242922 in ""`, `DELIVERY w2 1>106540352242922 in ""`,
		`DELIVERY w3 1>106540352242922 in ""`, `DELIVERY w4 2>g in "g"`,
	}, slices.Compact(lines))
	b.RequireKeys(t, 5, 2)
	require.Contains(t, failures[0], string(boterr.FailedPrecondition)+" the member's last message is more than 24 hours old")
	require.NotEmpty(t, failures[2])
	for _, drop := range b.Drops.Counts() {
		require.Equal(t, send.DropFromBot, drop.Reason)
	}
}

func TestHandler_MessagesInGroups(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, change("messages",
		`"contacts":[{"profile":{"name":"Grace"},"wa_id":"1"}],"messages":[{"from":"1","group_id":"g","id":"m","timestamp":"1","type":"text","text":{"body":"hi"}}]`)))
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, change("group_participants_update",
		`"groups":[{"timestamp":"2","group_id":"g","type":"group_participants_add","added_participants":[{"wa_id":"2"}],"reason":"invite_link"}]`)))
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, change("group_participants_update",
		`"groups":[{"timestamp":"3","group_id":"g","type":"group_join_request_created","join_request_id":"j","wa_id":"3"}]`)))
	require.Equal(t, []string{
		`in g: TEXT 1>g at 1000 {"text":"hi"} of Grace`,
		`in g: MISC 2>g at 2000 {"type":"group_participants_add","group":{"timestamp":"2","group_id":"g","type":"group_participants_add","added_participants":[{"wa_id":"2"}],"reason":"invite_link"}}`,
		`in g: MISC 3>g at 3000 {"type":"group_join_request_created","group":{"timestamp":"3","group_id":"g","type":"group_join_request_created","join_request_id":"j","wa_id":"3"}}`,
	}, shown(b))
}

func TestHandler_NumbersOfSeveralApplications(t *testing.T) {
	t.Parallel()
	one := func(number, text string) string {
		return strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(string(change("messages",
			`"messages":[{"from":"1","id":"`+text+`","type":"text","text":{"body":"`+text+`"}}]`)), shopNumber, number),
			`{"object":"whatsapp_business_account","entry":[`), `]}`)
	}
	body := []byte(`{"object":"whatsapp_business_account","entry":[` + one(deskNumber, "a") + `,` + one(shopNumber, "b") + `,` + one("7", "c") + `]}`)
	b := newBox(t)
	require.Equal(t, http.StatusOK, b.report(t.Context(), ownSecret, body))
	require.Equal(t, []string{`TEXT 1>106540352242923 at 0 {"text":"a"}`, `drop "messages" invalid`, `drop "messages" no_channel`}, shown(b))
	require.Equal(t, http.StatusUnauthorized, b.report(t.Context(), ownSecret, change("messages", `"messages":[]`)))
}

// Reports about the account and its templates name no number.
func TestHandler_ReportWithoutANumber(t *testing.T) {
	t.Parallel()
	body := []byte(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"account_update","value":{"event":"x"}}]}]}`)
	for address, status := range map[string]int{"/bravo": http.StatusUnauthorized, "/bravo?account=" + deskNumber: http.StatusOK} {
		b := newBox(t)
		require.Equal(t, status, b.Ask(graphtest.Report(t.Context(), address, ownSecret, body)).Code, address)
	}
}

func TestHandler_AnswersTheCheck(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for address, status := range map[string]int{"/bravo": http.StatusOK, "/bravo?account=" + deskNumber: http.StatusForbidden} {
		answer := httptest.NewRecorder()
		b.ServeHTTP(answer, graphtest.Check(t.Context(), address, verifyToken, "7"))
		require.Equal(t, status, answer.Code, address)
	}
}

func FuzzHandler(f *testing.F) {
	f.Add(string(change("messages", `"messages":[{"from":"1","id":"m","type":"text","text":{"body":"hi"},"group_id":"g"}]`)))
	f.Add(string(change("messages", `"messages":[{"from":"1","id":"m","type":"interactive","interactive":{"button_reply":[],"list_reply":{"id":"x"}}}]`)))
	f.Add(string(change("messages", `"statuses":[{"id":"w","status":"failed","recipient_id":"1","errors":[{"code":1e300}]}]`)))
	f.Add(string(change("group_participants_update", `"groups":[{"group_id":"g","added_participants":[{"wa_id":1}],"timestamp":-1}]`)))
	f.Add(string(change("group_lifecycle_update", `"groups":[{"errors":[7]}]`)))
	f.Fuzz(func(t *testing.T, body string) {
		b := newBox(t)
		status := b.report(context.Background(), appSecret, []byte(body))
		require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, status)
		b.RequireComplete(t)
		for _, one := range b.Got {
			require.True(t, one.GroupExternalID == "" || one.GroupExternalID == one.Event.To)
		}
	})
}
