package simulator

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/send"
)

// fileTypes are those of the files that a person sends.
func fileTypes() []send.Type {
	return []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}
}

// fileWith is a file that a person sends: its type, and its address, from which a platform serves it.
type fileWith struct {
	Person string    `json:"person"`
	Type   send.Type `json:"type"`
	URL    string    `json:"url"`
}

func sendFile(b *branch, with fileWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	url := strings.TrimSpace(with.URL)
	switch {
	case !slices.Contains(fileTypes(), with.Type):
		return moment{}, boterr.Invalid("type", "is %q: give one of %v", string(with.Type), fileTypes())
	case url == "":
		return moment{}, boterr.Missing("url", "the address of the file")
	}
	return b.does(conversation.Sends{By: by.name, Event: send.MessageEvent{Type: with.Type, Data: document.O("url", url)}},
		moment{what: by.name + " sends " + string(with.Type) + " " + url, by: by, said: said{file: with.Type, url: url}})
}

// eventWith is any other event that a person's platform reports, such as a location.
type eventWith struct {
	Person string          `json:"person"`
	Type   send.Type       `json:"type"`
	Data   document.Object `json:"data"`
}

func sendEvent(b *branch, with eventWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	if with.Type == "" {
		return moment{}, boterr.Missing("type", "the type of the event, such as LOCATION")
	}
	text := string(with.Type) + " " + with.Data.String()
	return b.does(conversation.Sends{By: by.name, Event: send.MessageEvent{Type: with.Type, Data: with.Data}},
		moment{what: by.name + " sends " + text, by: by, said: said{file: with.Type, text: with.Data.String()}})
}
