// Package conversation represents conversations with a bot as files that non-programmers can read and write.
// It plays them on a platform in memory. It also writes actions on a platform to such a file, or as a Go test.
//
//   - To read and write a file, use [Parse] and [Conversation.String].
//   - To play a conversation on a platform, use [Session.Play]; [Run] runs files as tests.
//   - To carry out actions on a platform and keep their results, use [Session.Do], [Session.Conversation] and
//     [Session.GoTest].
//
// A file has a line for each action, and below it the answers of the bot:
//
//	# Ada books a table.
//	Ada: a table for two
//	Bot: Which day?
//	  [Friday] [Saturday]
//
//	Ada taps [Friday]
//	Bot: Booked for Friday.
//
//	1 day later
//	Bot: See you today, Ada!
//
// The file lists all messages of the bot to the people of the conversation: if no answer follows an action, the
// bot must not answer. TYPING is omitted.
//
// # Actions
//
//	Ada: hello                                   Ada says a text
//	  | and more                                 a further line of it
//	Ada taps [Yes]                               a button or a quick reply by its title
//	Ada taps [Buy] 2                             the second one of that title, the newest message first
//	Ada sends IMAGE https://example.com/k.png    also AUDIO, VIDEO and FILE
//	Ada sends {"type": "LOCATION", "data": {"lat": 38.6}}
//	2 days later                                 time passes, as in 1 hour 30 minutes, 24h or 90m
//	Grace takes the ticket                       an agent takes the newest ticket; ticket 2 is the second one
//	Grace taps the ticket                        the agent taps its first button
//	Grace: How can I help?
//	Grace ends the chat
//	The next sendResponse fails: Unavailable     also "times out" and "is 20 seconds late"
//	Call 3 of sendResponse fails: Unavailable    also "times out" and "is 20 seconds late"
//	The next request to mail fails: Unavailable  any service or part named below; also "the next mail" or "file"
//	Request 3 to the store times out
//	The process crashes at the next sendResponse also "after" it, and "call 3 of sendResponse", "request 2 to mail"
//	The process crashes                          nothing is answered until the next line
//	The process starts again
//	Out of service: payments                     the store, data sources, mail, files, payments, HTTP, the messaging
//	                                             platforms, channel shop, data source orders, account shop
//	Back in service: payments
//	Out of service for 1 hour from request 3 on: mail
//	The next message comes twice                 also "Message 3", "of channel shop", and "the next payment event"
//	The next charge of shop is declined: insufficient_funds
//	Charge 2 of shop is declined: expired_card
//	Mail to ada@example.com bounces              every mail from now on
//	Out of service: messages to Ada              as if the bot were blocked
//	Out of service with NotFound: messages to C1 at shop
//	Back in service: messages to Ada             also "mail to ada@example.com"
//	At most 2 messages in 1 minute: channel shop also "for 1 hour from request 3 on"
//	No limit of messages: channel shop
//
// # Answers
//
//	Bot: Which one?                              to the last actor
//	  | a further line
//	  * Steel                                    a card, its subtitle, its image, its buttons
//	    : holds two litres
//	    ! https://example.com/k.png
//	    [Buy] [More](https://example.com)        a button, and one that opens an address
//	  (Yes) (No)                                 quick replies
//	Bot to Grace: A kettle leaks.                to another person
//	Bot sends IMAGE https://example.com/k.png    a file
//	Bot sends {"type": "TEMPLATE", ...}          a message of another form
//	Fails: Unavailable                           the run fails; the code of boterr may be left out
//
// # People
//
// A speaker is a member with that first name. If there are agents, or members of several channels, the file must
// add all people before they act:
//
//	channel page of type alpha
//	member Ada at page
//	member Bob {"lastName": "Babbage", "meta": {"vip": true}}
//	desk support                                 an outlet channel, whose agents answer the members so far
//	agent Grace at support
//	data coupons {"code": "SPRING"}              an entry of a data source
//	Ada joins the group family                   then also "Ada in family"
//
// A message to a group is listed once for each member in it, as in "Bot to Bob in family: hi".
//
// A name needs quotes if it has characters other than letters, digits, spaces and . _ - ' or if it contains a
// word with a meaning here ("Bot", "member", "to" and so on). A name that begins like a line above, such as "No limit",
// needs quotes, too.
//
// # Notation
//
// Indentation and empty lines mean nothing; a line that begins with # is a comment. A text is written
// literally, in any script. A backslash is \\, a space at an end of a line \s (not needed at the beginning of
// a further line), a tab \t, and an invisible character, such as one that changes the direction of text,
// \u{202e}. In titles brackets and parentheses are \[ and \(.
//
// String writes all of this in one form, so parsing its result gives the same conversation.
package conversation
