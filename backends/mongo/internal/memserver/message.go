package memserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The kinds of messages: an old one, in which drivers greet, its answer, and the one of
// all other commands and answers.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013
)

const (
	headerSize  = 16
	largestSize = 48_000_000
)

// message is a command that a client sent.
type message struct {
	id, kind uint32
	command  bson.D
}

var errMalformed = errors.New("the message is malformed")

// readMessage reads a message of a client.
func readMessage(client io.Reader) (message, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(client, header[:]); err != nil {
		return message{}, err
	}
	size := binary.LittleEndian.Uint32(header[:])
	if size < headerSize || size > largestSize {
		return message{}, errMalformed
	}
	body := make([]byte, size-headerSize)
	if _, err := io.ReadFull(client, body); err != nil {
		return message{}, err
	}
	asked := message{id: binary.LittleEndian.Uint32(header[4:]), kind: binary.LittleEndian.Uint32(header[12:])}
	var err error
	switch asked.kind {
	case opQuery:
		asked.command, err = readQuery(body)
	case opMsg:
		asked.command, err = readSections(body)
	default:
		err = errMalformed
	}
	return asked, err
}

// readQuery reads the command of an old message: behind flags, a name and two numbers.
func readQuery(body []byte) (bson.D, error) {
	const flags, numbers = 4, 8
	if len(body) < flags {
		return nil, errMalformed
	}
	_, rest, ok := bytes.Cut(body[flags:], []byte{0})
	if !ok || len(rest) < numbers {
		return nil, errMalformed
	}
	var command bson.D
	err := bson.Unmarshal(rest[numbers:], &command)
	return command, err
}

// readSections reads a command and the lists of documents that stand beside it.
func readSections(body []byte) (command bson.D, err error) {
	const flags = 4
	if len(body) < flags {
		return nil, errMalformed
	}
	for rest := body[flags:]; len(rest) > flags; {
		kind, size := rest[0], binary.LittleEndian.Uint32(rest[1:])
		if uint64(len(rest)) < uint64(size)+1 {
			return nil, errMalformed
		}
		section := rest[1 : size+1]
		rest = rest[size+1:]
		if kind == 0 {
			var main bson.D
			if err := bson.Unmarshal(section, &main); err != nil {
				return nil, err
			}
			command = append(main, command...)
			continue
		}
		name, documents, ok := bytes.Cut(section[4:], []byte{0})
		if !ok {
			return nil, errMalformed
		}
		list, err := readList(documents)
		if err != nil {
			return nil, err
		}
		command = append(command, bson.E{Key: string(name), Value: list})
	}
	if len(command) == 0 {
		return nil, errMalformed
	}
	return command, nil
}

// readList reads documents that stand one behind the other.
func readList(b []byte) (bson.A, error) {
	list := bson.A{}
	for len(b) > 0 {
		if len(b) < 5 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)) {
			return nil, errMalformed
		}
		size := binary.LittleEndian.Uint32(b)
		var d bson.D
		if err := bson.Unmarshal(b[:size], &d); err != nil {
			return nil, err
		}
		list, b = append(list, d), b[size:]
	}
	return list, nil
}

// reply returns the message that answers this one.
func (m message) reply(answer []byte) []byte {
	kind, before := uint32(opMsg), make([]byte, 5) // No flags, and a section of kind 0.
	if m.kind == opQuery {
		kind, before = opReply, make([]byte, 20) // Flags, a cursor, where it starts, and how many there are.
		before[16] = 1
	}
	b := make([]byte, headerSize, headerSize+len(before)+len(answer))
	binary.LittleEndian.PutUint32(b, uint32(cap(b)))
	binary.LittleEndian.PutUint32(b[8:], m.id)
	binary.LittleEndian.PutUint32(b[12:], kind)
	return append(append(b, before...), answer...)
}
