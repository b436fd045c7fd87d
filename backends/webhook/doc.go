// Package webhook connects custom channels and web chats over signed HTTP. It posts the bot's
// messages to the channel's URL and receives members' messages with an http.Handler.
//
//   - To send, create a [Connector] with [New] and list it in botctx.Config's Connectors.
//   - To receive, serve [Connector.Handler] with the Runtime's Accept method.
//   - To sign and verify requests in other programs, use [Sign] and [Verify].
//
// A host does both like this:
//
//	web, err := webhook.New(webhook.Config{LoadChannel: webhook.Stored(store)})
//	rt, err := botctx.New(botctx.Config{
//		Store:      store,
//		Connectors: map[channel.Type]send.Connector{channel.Webchat: web, channel.Custom: web},
//	})
//	http.Handle("POST /inbound", web.Handler(rt.Accept))
//	err = rt.Run(ctx) // Runs the bot for accepted events, and runs agendas.
//
// # The channel
//
// The channel's metadata has the URL as "webhookUrl". Its info has the secret as "webhookSecret": a string of
// at least 16 bytes, or, while secrets are being rotated, an array of such strings with the newest first. A
// secret that starts with "whsec_" is base64 after that prefix. Config.Endpoint can read both from another
// place.
//
// # Signatures
//
// Requests in both directions carry the three headers of Standard Webhooks:
//
//	webhook-id: msg_1
//	webhook-timestamp: 1700000000
//	webhook-signature: v1,2/96Fi6DIQTE6/TEWuTaEuvSHZqEolGKLGsjVHiG26Q=
//
// The signature is the base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots. If
// there are several secrets, the header has one signature for each, separated by spaces. Go programs
// use Sign and Verify. In a shell:
//
//	id=msg_1 at=$(date +%s)
//	body='{"app":"a1","channel":"c1","messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}}}'
//	signature=$(printf '%s.%s.%s' "$id" "$at" "$body" | openssl dgst -sha256 -hmac "$secret" -binary | base64)
//	curl https://bot.example/inbound -H 'content-type: application/json' -d "$body" \
//		-H "webhook-id: $id" -H "webhook-timestamp: $at" -H "webhook-signature: v1,$signature"
//
// Unsigned requests are always refused. A browser cannot keep a secret, so a chat page sends its messages to
// the host's own server. That server knows the member from the session, and signs the request.
//
// # Messages from the bot
//
// Each message is a POST of
//
//	{"id": "...", "app": "a1", "channel": "c1", "channelType": "webchat", "to": "ada",
//	 "memberId": "m1", "response": {"type": "TEXT", "text": "Hello"}}
//
// Empty fields are left out. A request for a person that goes to no broadcast group has no "to". An
// operation may add messagingType, messagingTag, receiverType and groupId. "id" equals the webhook-id
// header and the Idempotency-Key header. It stays the same when the request or the whole run is
// retried, so a receiver that remembers ids shows each message once.
//
// A 2xx status means that the receiver has the message. If the response body is a JSON object, it
// becomes the Reply of the send; messageId, chatId, from and timestamp (in milliseconds) are used if
// they have the right types. Connector.Send lists the other statuses.
//
// # Messages from members
//
// A request is a POST of
//
//	{"app": "a1", "channel": "c1",
//	 "messageEvent": {"type": "TEXT", "from": "ada", "data": {"text": "hi"}},
//	 "profile": {"firstName": "Ada"}}
//
// profile is optional, and so are messageEvent's to, data, timestamp and messageId. For a message
// in a group, the body also has "groupExternalId", the platform's id of the group; to may be left out or be
// the same id. The answer then goes to that group, without a memberId.
//
// Status 200 means that the event is stored and the bot will run for it. After any other answer, or
// none, the sender must repeat the request with the same webhook-id until it gets 200. A repeated
// event runs only once. Connector.Handler lists the statuses.
package webhook
