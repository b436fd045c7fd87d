// Package telegramtest checks the requests of package telegram to Telegram's Bot API, and the answers and
// updates of its fake, against the API's description.
package telegramtest
