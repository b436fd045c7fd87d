// Package telegramtest checks the requests of package telegram, and the answers and updates of its fake, against the
// description of Telegram's Bot API.
package telegramtest
