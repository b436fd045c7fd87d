// Package conversation has conversations with a bot as files that people can read and write who do not
// program, holds them on a platform in memory, and writes what was done there as such a file or as a Go
// test.
//
//   - To read and write a file, use [Parse] and [Conversation.String].
//   - To hold a conversation on a platform, use [Session.Play]; [Run] runs files as tests.
//   - To do things on a platform and keep what came of it, use [Session.Do], [Session.Conversation] and
//     [Session.GoTest].
//
// A file is of lines, of which each says who does what, and below it what the bot answers:
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
// All that the bot says to those who take part stands there, and nothing else: where no answer follows,
// none comes. TYPING is left out.
//
// # What is done
//
//	Ada: hello                                   she says a text
//	  | and more                                 a further line of it
//	Ada taps [Yes]                               a button or a quick reply by its title
//	Ada taps [Buy] 2                             the second one of that title, the newest message first
//	Ada sends IMAGE https://example.com/k.png    so AUDIO, VIDEO and FILE
//	Ada sends {"type": "LOCATION", "data": {"lat": 38.6}}
//	2 days later                                 time passes, as in 1 hour 30 minutes, 24h or 90m
//	Grace takes the ticket                       an agent takes the newest ticket; ticket 2 is the second one
//	Grace taps the ticket                        she taps its first button
//	Grace: How can I help?
//	Grace ends the chat
//	The next sendResponse fails: Unavailable     so "times out" and "is 20 seconds late"
//	The next mail fails: Unavailable             so the next file that is stored
//	The next charge of shop is declined: insufficient_funds
//	Mail to ada@example.com bounces              each from now on
//
// # What comes of it
//
//	Bot: Which one?                              to who acted last
//	  | a further line
//	  * Steel                                    a card, its subtitle, its image, its buttons
//	    : holds two litres
//	    ! https://example.com/k.png
//	    [Buy] [More](https://example.com)        a button, and one that opens an address
//	  (Yes) (No)                                 quick replies
//	Bot to Grace: A kettle leaks.                to somebody else
//	Bot sends IMAGE https://example.com/k.png    a file
//	Bot sends {"type": "TEMPLATE", ...}          a message of another form
//	Fails: Unavailable                           its run fails, with a code of boterr or without
//
// # Who is there
//
// Who speaks is a member of that first name. Where there are agents, or members of several channels, lines
// at the beginning, or where they come, add all who take part:
//
//	channel page of type alpha
//	member Ada at page
//	member Bob {"lastName": "Babbage", "meta": {"vip": true}}
//	desk support                                 an outlet channel for agents, who answer the members so far
//	agent Grace at support
//	data coupons {"code": "SPRING"}              an entry of a data source
//	Ada joins the group family                   where she writes and reads as Ada in family
//
// What a group is sent goes to each of its members here, as to "Bob in family".
//
// A name that has other characters than letters, digits, spaces and . _ - ' stands in quotes, as does one
// with a word that means something here ("Bot", "member", "to" and so on).
//
// # How it is written
//
// Indents and empty lines mean nothing; a line that begins with # is a comment. A text stands as it is,
// in any script. A backslash is \\, a space at an end of a line \s (at the
// beginning of a further line it stands as it is), a tab \t, and a character that one
// does not see, such as one that turns the direction of text, \u{202e}. In titles brackets and
// parentheses are \[ and \(.
//
// String writes all of this in one form, so that Parse of it gives the same conversation.
package conversation
