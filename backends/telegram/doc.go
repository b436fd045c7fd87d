// Package telegram connects bots of Telegram. It sends messages, and receives users' messages by polling, which
// needs no public address, or by a webhook.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited], and list it in botctx.Config's
//     Connectors, under [Type].
//   - To receive, call [Connector.Poll] with the Runtime's Accept method, or serve [Connector.Handler] and
//     call [Connector.SetWebhook].
//   - To read a file that a member has sent, use [Connector.Open].
//
// A host does this:
//
//	connector, err := telegram.New(telegram.Config{Store: store})
//	rt, err := botctx.New(botctx.Config{
//		Store:      store,
//		Connectors: map[channel.Type]send.Connector{telegram.Type: telegram.Limited(connector)},
//	})
//	go connector.Poll(ctx, "shop", "chat", rt.Accept)
//	err = rt.Run(ctx)
//
// # The channel
//
// A channel of type "telegram" is a bot. Its info has the bot's token as "token" and, for webhooks, a secret
// that you choose as "secretToken" (1 to 256 letters, digits, _ and -). If agents answer in Telegram, its
// metadata may have the id of a group with topics as "agentsChat"; see [Connector.CreateGroup].
//
// # Ids
//
// A user's id is a number. A group's id is a negative number, and a topic's id is "group/topic". A message's id
// is "chat:message". The bot's id is the part of its token before the colon.
//
// # Events
//
//	TEXT      a text, with commands such as /help as they were typed
//	REFERRAL  /start with a parameter, which a link https://t.me/bot?start=parameter gives: {"ref": "parameter"}
//	PAYLOAD   a tap on a button or a quick reply: {"payload": ...}
//	MISC      a file, a location or a contact: {"attachments": [{"type": "image", "payload": {"attachment_id": ...,
//	          "kind": "photo"}, "title": ..., "mimeType": ..., "size": ...}], "text": the caption}. The type is
//	          image, video, audio, file, location or contact, and kind is Telegram's name for it
//	MISC      any other action of a user, such as blocking the bot: {"event": {"my_chat_member": ...}}
//
// From is the user's id. To is the id of the group or topic, or in a private chat the bot's id. The id of a
// group or topic is also the event's GroupExternalID. Updates of bots, and updates without a user, such as
// posts in channels, are dropped and counted.
//
// A bot in a group gets all messages only if it is an administrator or its privacy mode is off.
//
// Telegram does not verify the payload of a tap, and a modified app can send any payload. Check permissions by
// the member, not only by the payload.
package telegram
