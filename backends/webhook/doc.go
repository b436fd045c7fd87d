// Package webhook connects custom channels and chats on web pages by signed HTTP: what the
// bot says is posted to an address of the channel, and what members say arrives at a
// handler.
//
//   - To send, make a [Connector] by [New] one of the Connectors of botctx.Config.
//   - To receive, serve [Connector.Handler] with Accept of botctx.Runtime.
//   - To sign and check in a program of your own, use [Sign] and [Verify].
//
// A host has both so:
//
//	web, err := webhook.New(webhook.Config{LoadChannel: webhook.Stored(store)})
//	rt, err := botctx.New(botctx.Config{
//		Store:      store,
//		Connectors: map[channel.Type]send.Connector{channel.Webchat: web, channel.Custom: web},
//	})
//	http.Handle("POST /inbound", web.Handler(rt.Accept))
//	err = rt.Run(ctx) // Runs the bot for what was accepted, and agendas.
//
// # The channel
//
// The address stands in the channel's metadata as "webhookUrl", the secret in its info as
// "webhookSecret": a text of at least 16 bytes, or an array of such while one replaces another,
// of which the first is the newest. One that begins with "whsec_" is base64 behind that.
// Config.Endpoint takes them from elsewhere.
//
// # Signatures
//
// Both ways carry the three headers of Standard Webhooks:
//
//	webhook-id: msg_1
//	webhook-timestamp: 1700000000
//	webhook-signature: v1,2/96Fi6DIQTE6/TEWuTaEuvSHZqEolGKLGsjVHiG26Q=
//
// The signature is the base64 of the HMAC-SHA256 over id, timestamp and body with dots
// between. Several, one for each secret, stand behind each other with spaces between. A
// Go program signs with Sign and checks with Verify. A shell signs so:
//
//	id=msg_1 at=$(date +%s)
//	body='{"app":"a1","channel":"c1","messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}}}'
//	signature=$(printf '%s.%s.%s' "$id" "$at" "$body" | openssl dgst -sha256 -hmac "$secret" -binary | base64)
//	curl https://bot.example/inbound -H 'content-type: application/json' -d "$body" \
//		-H "webhook-id: $id" -H "webhook-timestamp: $at" -H "webhook-signature: v1,$signature"
//
// There is no unsigned mode. A page in a browser cannot keep a secret: it talks to the
// host's own server, which knows the member by the session, and signs.
//
// # What the bot says
//
// Each message is a POST of
//
//	{"id": "...", "app": "a1", "channel": "c1", "channelType": "webchat", "to": "ada",
//	 "memberId": "m1", "response": {"type": "TEXT", "text": "Hello"}}
//
// without what is absent; messagingType, messagingTag, receiverType and groupId follow where
// an operation gives them. "id" is that of the header and the same in each repetition, also where
// the run that sends it is tried again, so that a receiver which keeps the ids shows each message
// once. The header Idempotency-Key has it, too.
//
// A status of 2xx means that the message is taken. The answer may be a JSON object, which
// becomes the Reply of the send; its messageId, chatId, from and timestamp (a number of
// milliseconds) are read where they have these types. See Connector.Send for the others.
//
// # What members say
//
// A request is a POST of
//
//	{"app": "a1", "channel": "c1",
//	 "messageEvent": {"type": "TEXT", "from": "ada", "data": {"text": "hi"}},
//	 "profile": {"firstName": "Ada"}}
//
// where profile may be absent, as may messageEvent's to, data, timestamp and messageId.
// What was written in a group says "groupExternalId": "...", the platform's id of the group,
// beside them; the answer then goes to that id, without a memberId.
//
// 200 says that the event is in the store, and that the bot will run for it. What is not answered
// so is to be sent again under the same webhook-id, for as long as it takes: an event is known when
// it comes again, and runs once. See Connector.Handler.
package webhook
