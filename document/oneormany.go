package document

import (
	"reflect"

	"github.com/botctx/go-sdk/boterr"
)

// OneOrMany is a parameter that accepts one T or an array of them. In Go it is a slice. It is read from
// either form in JSON, and written as an array.
type OneOrMany[T any] []T

// One returns a OneOrMany of the values given.
func One[T any](values ...T) OneOrMany[T] { return values }

// DecodeValue reads one value or an array of them. null gives nil.
func (m *OneOrMany[T]) DecodeValue(value any) error {
	array, ok := value.(Array)
	if !ok {
		if value == nil {
			*m = nil
			return nil
		}
		var one T
		if err := DecodeValue(value, &one); err != nil {
			return err
		}
		*m = OneOrMany[T]{one}
		return nil
	}
	many := make(OneOrMany[T], array.Len())
	for i, item := range array.All() {
		if err := (goDecoder{}).value(item, reflect.ValueOf(&many[i]).Elem()); err != nil {
			return boterr.PrefixField(boterr.Index(i), err)
		}
	}
	*m = many
	return nil
}

// UnmarshalJSON reads one value or an array of them.
func (m *OneOrMany[T]) UnmarshalJSON(text []byte) error {
	value, err := ParseJSON(text)
	if err != nil {
		return err
	}
	return m.DecodeValue(value)
}
